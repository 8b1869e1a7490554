"""Reports to open in a browser, written from runs that are made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from assay.lab.harness.run.run import CellResult
from assay.lab.harness.trace.file import dump_trace
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Outcome, Verdict
from assay.lab.report.registry import renderer
from assay.revisions.registry import REVISIONS
from tests.lab.runs import REVISION, cell, run_of
from tests.lab.traces import request, result, stdio_trace

OLDER = REVISIONS[0].date
LENGTH = 120
"""Frames of the long trace."""
CITED = (60, 61)
REPRODUCE = "printf '%s\\n' '{\"id\":1}' | server --name 'it''s'"


def write(path: Path, *cells: CellResult, **fields: Any) -> Path:
    """The page of a run, and beside it the traces of its cells."""
    path.write_text(renderer("html")(run_of(*cells, **fields)), "ascii")
    return path


def with_trace(home: Path, made: CellResult, trace: Trace) -> CellResult:
    path = home / f"{made.scenario}-{made.transport}-{made.revision}.ndjson"
    path.write_bytes(dump_trace(trace))
    return msgspec.structs.replace(made, trace=str(path))


def with_finding(made: CellResult, **fields: Any) -> CellResult:
    """The cell with the first finding of its first check changed."""
    first, *rest = made.checks
    found = msgspec.structs.replace(first.findings[0], **fields)
    return msgspec.structs.replace(made, checks=[msgspec.structs.replace(first, findings=[found]), *rest])


def long_trace() -> Trace:
    turns = [
        (">", request(n, "tools/list")) if n % 2 == 0 else ("<", result(n - 1, tools=[]))
        for n in range(LENGTH)
    ]
    trace = stdio_trace(*turns)
    mark = Frame(LENGTH, 1.0, Sender.DRIVER, "1/marks", Kind.MARK, info={"label": "sentinel"})
    return Trace(trace.header, [*trace.frames, mark])


def ordinary(home: Path) -> Path:
    """A little of everything: two revisions, all outcomes, one finding with a long trace."""
    failed = cell(
        "tools.unknown-name",
        ("jsonrpc.version", Verdict.SUCCESS),
        ("tools.unknown-name", Verdict.FAILURE),
        ("jsonrpc.silence", Verdict.SKIPPED),
    )
    first, second, third = failed.checks
    failed = msgspec.structs.replace(failed, checks=[second, first, third])
    failed = with_finding(failed, frames=list(CITED), reproduce=REPRODUCE, observed="a result with isError")
    passed = with_trace(home, cell("lifecycle.ping", ("lifecycle.ping", Verdict.SUCCESS)), stdio_trace())
    return write(
        home / "ordinary.html",
        passed,
        with_trace(home, failed, long_trace()),
        cell("tools.definitions", ("tools.input-schema", Verdict.WARNING)),
        cell("http.ended-session", outcome=Outcome.NOT_APPLICABLE),
        cell("jsonrpc.notifications", ("jsonrpc.silent-notifications", Verdict.SKIPPED), broke_off=True),
        msgspec.structs.replace(passed, revision=OLDER, transport="http"),
    )


def large(home: Path, runs: int = 1500, checks: int = 12) -> Path:
    """Thousands of checks, every tenth run with a failure."""
    cells = []
    for n in range(runs):
        verdicts = [(f"area{n % 9}.check-{m}", Verdict.SUCCESS) for m in range(checks)]
        if n % 10 == 0:
            verdicts[0] = (verdicts[0][0], Verdict.FAILURE)
        made = cell(f"area{n % 9}.scenario-{n}", *verdicts)
        cells.append(made if n % 2 else msgspec.structs.replace(made, revision=OLDER))
    return write(home / "large.html", *cells)


def hostile(home: Path) -> Path:
    """Whatever a server might say to get out of its place."""
    text = "".join(
        (
            "</script><script>window.caught = 1</script><!-- <script>",
            "<img src=x onerror='window.caught = 2'>\"'>{{7*7}}${7*7}",
            '<a href="javascript:window.caught = 3">x</a>\u202etxet desrever\u2066\x00\x1b[31m\u2028 ]]>',
        )
    )
    made = cell("tools.unknown-name", ("tools.unknown-name", Verdict.FAILURE))
    made = with_finding(
        made,
        observed=text + "x" * 200_000,
        expected=text,
        statement=text,
        link="javascript:caught=4",
        reproduce=text,
    )
    check = msgspec.structs.replace(made.checks[0], title=text)
    made = msgspec.structs.replace(made, title=text, reason=text, checks=[check])
    huge = b"\xff" + b"y" * 1_000_000
    trace = stdio_trace((">", request(text, text)), ("<", result(text, text=text)), ("<", huge))
    return write(home / "hostile.html", with_trace(home, made, trace), stale=[text], problem=text)


LINK = f"#run=tools.unknown-name/stdio/{REVISION}&check=tools.unknown-name"


def of_a_client(home: Path) -> Path:
    """One finding about a client that asks twice."""
    trace = stdio_trace(("<", request(1, "initialize")), (">", result(1)), ("<", request(1, "tools/list")))
    failed = with_finding(cell("tools_call", ("jsonrpc.fresh-ids", Verdict.FAILURE)), frames=[0, 2])
    path = home / "client.html"
    return write(path, with_trace(home, failed, trace), role="client", suite="client")
