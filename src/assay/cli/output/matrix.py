"""A matrix on the terminal: a line for each pair while it runs, then the grid, and where the page is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from assay.cli.exit_code import ExitCode
from assay.lab.matrix.pair import Blame, Pair, PairResult, Status
from assay.lab.matrix.run import LiveMatrix, MatrixResult, PairFinished, PairsPlanned

from .run import on_signal
from .stream import emit_lines, say

MARKS = {Status.OK: "ok", Status.UNSUPPORTED: "-", Status.NOT_RUN: "!"}
BLAMED = {Blame.CLIENT: "C", Blame.SERVER: "S", Blame.BOTH: "CS"}
UNKNOWN = "?"
LEGEND = "C, S: fault of client, server; ?: unclear; -: not supported; !: could not run; .: not run yet"


async def show_matrix(live: LiveMatrix) -> ExitCode:
    """Show a matrix until it ends.

    Raises:
        LabError: nothing was run, or results cannot be stored.
    """
    total = number = 0
    async with live:
        on_signal(live.interrupt)
        async for event in live:
            match event:
                case PairsPlanned(run, reused):
                    total = run
                    say(f"{run} pairs to run, {reused} unchanged since their last run")
                case PairFinished(result):
                    number += 1
                    say(f"{number}/{total} {line_of(result)}")
    whole = live.result
    emit_lines(summary(whole))
    if whole.page is not None:
        say(f"page: {whole.page}")
    return exit_code(whole)


def line_of(result: PairResult) -> str:
    blame = f" ({result.blame})" if result.status is Status.FAULTY else ""
    reason = f": {result.reason}" if result.reason else ""
    return f"{result.status}{blame} {result.pair}, {result.seconds:.1f} s{reason}"


def summary(result: MatrixResult) -> Iterator[str]:
    """The grid: a row for each client, transport and revision, a column for each server."""
    matrix = result.matrix
    names = list(matrix.servers)
    width = max(len(name) for name in matrix.clients) + len(" stdio 2000-00-00")
    yield " " * width + "".join(f"  {name:>{len(name)}}" for name in names)
    for client in matrix.clients:
        for transport in matrix.transports:
            for revision in matrix.revisions:
                cells = [_mark(result, Pair(client, server, transport, revision)) for server in names]
                row = f"{client} {transport} {revision}"
                if {*cells} - {"-", "."}:
                    yield f"{row:<{width}}" + "".join(
                        f"  {cell:>{len(name)}}" for cell, name in zip(cells, names, strict=True)
                    )
    yield LEGEND
    yield ""
    counts = Counter(each.status for each in result.results.values())
    yield ", ".join(f"{counts[status]} {status}" for status in Status if counts[status]) or "nothing ran"
    if result.interrupted:
        yield "interrupted: what ran is kept, the next run continues"


def _mark(result: MatrixResult, pair: Pair) -> str:
    known = result.results.get(pair)
    if known is None:
        return "."
    return BLAMED.get(known.blame, UNKNOWN) if known.status is Status.FAULTY else MARKS[known.status]


def exit_code(result: MatrixResult) -> ExitCode:
    statuses = {each.status for each in result.results.values()}
    if result.interrupted:
        return ExitCode.INTERRUPTED
    if Status.FAULTY in statuses:
        return ExitCode.DOES_NOT_CONFORM
    return ExitCode.INCOMPLETE if Status.NOT_RUN in statuses else ExitCode.OK
