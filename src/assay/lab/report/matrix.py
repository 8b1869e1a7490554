"""The run at a glance: how many of the applicable scenarios passed, by transport, revision and area."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from assay.lab.harness.run.conclusion import headline
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.verdict import Outcome

PASSED = frozenset({Outcome.PASSED, Outcome.WARNED})
NOTHING = "-"
Key = Callable[[CellResult], str]


def render(run: Run) -> str:
    return "\n".join((*lines(run), "", headline(run))) + "\n"


def lines(run: Run) -> Iterator[str]:
    """Two tables: revisions by transports, then areas by revisions."""
    yield from _table(run, "passed", lambda cell: cell.revision, lambda cell: cell.transport)
    yield ""
    yield from _table(run, "area", area, lambda cell: cell.revision)


def area(cell: CellResult) -> str:
    return cell.area or cell.scenario.partition(".")[0]


def _table(run: Run, corner: str, row: Key, column: Key) -> Iterator[str]:
    counted: dict[tuple[str, str], Counter[Outcome]] = {}
    for cell in run.cells:
        counted.setdefault((row(cell), column(cell)), Counter())[cell.outcome] += 1
    columns = list(dict.fromkeys(column(cell) for cell in run.cells))
    rows = sorted({name for name, _ in counted})
    width = max(14, *(len(name) + 2 for name in rows)) if rows else 0
    yield f"{corner:<{width}}{''.join(f'{name:<18}' for name in columns)}".rstrip()
    for name in rows:
        shares = (_share(counted.get((name, other), Counter())) for other in columns)
        yield f"{name:<{width}}{''.join(f'{share:<18}' for share in shares)}".rstrip()


def _share(count: Counter[Outcome]) -> str:
    applying = sum(number for outcome, number in count.items() if outcome is not Outcome.NOT_APPLICABLE)
    if not applying:
        return NOTHING
    passed = sum(count[outcome] for outcome in PASSED)
    bad = f" {count[Outcome.FAILED]} FAILED" if count[Outcome.FAILED] else ""
    return f"{passed} of {applying}{bad}"
