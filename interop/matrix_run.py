"""Run the matrix of `matrix.toml`, and write its table to `docs/evidence/matrix.md`.

Options are those of `assay matrix`; a selection leaves the page in docs alone. Exit codes: 0 Assay is never
at fault, 1 it is, or a pair with it could not run, 2 usage, 3 could not run, 130 interrupted.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from assay.cli.output.matrix import show_matrix
from assay.lab.error import LabError
from assay.lab.matrix.options import MatrixOptions
from assay.lab.matrix.page.fault import faults
from assay.lab.matrix.page.square import kind_of, title_of
from assay.lab.matrix.pair import Blame, Pair, PairResult, Status
from assay.lab.matrix.run import MatrixResult, follow_matrix
from interop.exit_code import exit_code
from interop.features import with_block
from interop.markdown import text
from interop.official import Aborted, Exit

HERE = Path(__file__).parent
ROOT = HERE.parent
FILE = HERE / "matrix.toml"
PAGE = ROOT / "docs" / "evidence" / "matrix.md"
MARKS = ("<!-- matrix: written by `make matrix` -->", "<!-- end of matrix -->")
OURS = "assay"


def table(result: MatrixResult) -> str:
    """A row for each client; a cell has a line for each transport, with a letter for each revision."""
    matrix = result.matrix
    titles = [title_of(matrix.servers, server) for server in matrix.servers]
    lines = [f"| client | {' | '.join(titles)} |", f"|---|{':-:|' * len(titles)}"]
    for client in matrix.clients:
        cells = [cell(result, client, server) for server in matrix.servers]
        lines.append(f"| {title_of(matrix.clients, client)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def cell(result: MatrixResult, client: str, server: str) -> str:
    matrix = result.matrix
    return "<br>".join(
        " ".join(
            letter(result.results.get(Pair(client, server, transport, revision)))
            for revision in matrix.revisions
        )
        for transport in matrix.transports
    )


def letter(result: PairResult | None) -> str:
    kind, mark = kind_of(result)
    return mark.lower() if kind == "works" else mark


def fault_lines(result: MatrixResult) -> Iterator[str]:
    for fault in faults(result.matrix, result.results):
        parties = result.matrix.clients if fault.side == Blame.CLIENT else result.matrix.servers
        rule = f" ({fault.requirement})" if fault.requirement else ""
        pairs = f"{len(fault.pairs)} pair{'s' if len(fault.pairs) > 1 else ''}"
        yield f"- {fault.side} {title_of(parties, fault.name)}: {text(fault.title)}{rule}; {pairs}"


def block(result: MatrixResult) -> str:
    counts = {status: 0 for status in Status}
    for each in result.results.values():
        counts[each.status] += 1
    summary = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    faulty = "\n".join(fault_lines(result)) or "None."
    return f"{len(result.results)} pairs: {summary}.\n\n{table(result)}\n\nFaults, by party:\n\n{faulty}"


def is_ours(result: PairResult) -> bool:
    """Whether Assay is at fault in a pair, or could not be tried."""
    pair = result.pair
    roles = {Blame.CLIENT: pair.client == OURS, Blame.SERVER: pair.server == OURS}
    if result.status is Status.NOT_RUN:
        return any(roles.values())
    if result.status is not Status.FAULTY:
        return False
    both = result.blame in (Blame.BOTH, Blame.UNCLEAR)
    return any(roles.values()) if both else roles.get(result.blame, False)


def parse() -> MatrixOptions:
    parser = argparse.ArgumentParser(
        prog="interop.matrix_run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("--client", "--server", "--transport"):
        parser.add_argument(name, action="append", default=[], metavar="GLOB")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "matrix")
    options = parser.parse_args()
    return MatrixOptions(
        client=tuple(options.client),
        server=tuple(options.server),
        transport=tuple(options.transport),
        force=options.force,
        jobs=options.jobs,
        output=Path(os.path.relpath(options.output)),
    )


async def run(options: MatrixOptions) -> int:
    try:
        live = follow_matrix(FILE, options)
        await show_matrix(live)
    except LabError as error:
        raise Aborted(Exit.COULD_NOT_RUN, str(error)) from error
    result = live.result
    if result.interrupted:
        return Exit.INTERRUPTED
    if len(result.results) == len(list(result.matrix.pairs())):
        PAGE.write_text(with_block(PAGE.read_text("utf-8"), block(result), MARKS), "utf-8")
    return Exit.DOES_NOT_CONFORM if any(map(is_ours, result.results.values())) else Exit.CONFORMS


if __name__ == "__main__":
    sys.exit(exit_code(lambda: asyncio.run(run(parse()))))
