"""`docs/evidence/public-servers.md`: a function of the record, the table of servers and the reasons."""

from collections.abc import Iterator, Mapping

from assay.lab.harness.verdict import Outcome
from interop.markdown import cell, frames, short, text
from interop.public.reason import Reasons
from interop.public.record import JudgedServer, Record, ServerFinding
from interop.public.table import PublicServer

TRACES = "../../interop/public/traces"
INTRODUCTION = """\
# Public servers

The lab's findings in public servers from PyPI and npm, at the versions pinned in `interop/public/servers/`,
none with conformance fixtures. Written by `make public`; do not edit.

- Each finding names the requirement, what was expected and observed, the frames that prove it, and why it is
  true. The reasons are written by hand in `interop/public/reasons.toml`, after reading the clause and, if
  available, the server's source. A finding without a reason fails the command: a false finding is a fault of
  the lab.
- The trace behind each finding is stored. `assay judge interop/public/traces` judges them again, offline, and
  `tests/interop/test_public.py` compares the result with this page.
- A finding is about one sentence of the specification. Most come from the SDK that a server is built with,
  and few would affect a well-behaved client. They say nothing about how useful a server is.
"""


def page(record: Record, servers: Mapping[str, PublicServer], reasons: Reasons) -> str:
    parts = (
        INTRODUCTION,
        *_servers(record, servers),
        *_table(record),
        *(line for judged in record.judged for line in _judged(judged, reasons)),
    )
    return "\n".join(parts).rstrip() + "\n"


def _servers(record: Record, servers: Mapping[str, PublicServer]) -> Iterator[str]:
    yield f"## Servers\n\nJudged by {record.scenarios} scenarios and {record.checks} checks.\n"
    yield "| server | package | SDK | transport | revisions | scenario runs | broken MUST | broken SHOULD |"
    yield "|---|---|---|---|---|---|--:|--:|"
    for judged in record.judged:
        server = servers[judged.server]
        cells = (
            judged.server,
            f"`{server.package}` {judged.version}",
            server.built_with,
            judged.transport,
            "<br>".join(judged.speaks),
            "<br>".join(
                f"{judged.outcomes[outcome]} {outcome}" for outcome in Outcome if outcome in judged.outcomes
            ),
            str(_count(judged, "FAILURE")),
            str(_count(judged, "WARNING")),
        )
        yield f"| {' | '.join(cells)} |"
    yield ""


def _count(judged: JudgedServer, verdict: str) -> int:
    return len({finding.requirement for finding in judged.findings if finding.verdict == verdict})


def _table(record: Record) -> Iterator[str]:
    yield "## Findings\n"
    yield "| server | requirement | level | revisions | expected | observed |"
    yield "|---|---|---|---|---|---|"
    for judged in record.judged:
        for finding in judged.findings:
            rule = f"[{finding.requirement}](#{_anchor(judged, finding)}) {cell(finding.statement)}"
            values = (cell(finding.expected), cell(short(finding.observed)))
            cells = (judged.server, rule, finding.level, "<br>".join(finding.revisions), *values)
            yield f"| {' | '.join(cells)} |"
    yield ""


def _judged(judged: JudgedServer, reasons: Reasons) -> Iterator[str]:
    yield f"## {judged.server} {judged.version}\n"
    if not judged.findings:
        yield "No finding.\n"
    for finding in judged.findings:
        yield from _finding(judged, finding, reasons.why(judged.server, finding.key) or "")


def _finding(judged: JudgedServer, finding: ServerFinding, why: str) -> Iterator[str]:
    yield f'<a id="{_anchor(judged, finding)}"></a>\n'
    yield f"**[{finding.requirement}]({finding.link}) ({finding.level})**: {text(finding.statement)}\n"
    yield f"- check: `{finding.check}`, on {judged.transport} at {', '.join(finding.revisions)}"
    yield f"- expected: {text(finding.expected)}"
    yield f"- observed: {text(short(finding.observed))}"
    yield f"- trace: [{finding.trace}]({TRACES}/{judged.server}/{finding.trace})"
    yield f"- why: {why.strip()}"
    yield from frames(finding.excerpt)


def _anchor(judged: JudgedServer, finding: ServerFinding) -> str:
    return f"{judged.server}-{finding.check}-{finding.requirement}".replace(".", "-").lower()
