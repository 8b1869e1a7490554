"""The server that claims the profile keeps it: no finding on either transport, and every row is seen."""

from collections.abc import Awaitable, Callable

import pytest

from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Verdict
from tests.lab.marketplace.ground import SUITE, certified, changing, healthy, loaded, protected, traced
from tests.meta.tree import expect_none

# What one test has played, others look at: `make test` keeps a file in one process.
pytestmark = [pytest.mark.long, pytest.mark.waits]
PLAYED: dict[str, Callable[[], Awaitable[Run]]] = {
    "stdio": lambda: healthy(Transport.STDIO),
    "http": lambda: healthy(Transport.HTTP),
    "changing stdio": lambda: changing(Transport.STDIO),
    "changing http": lambda: changing(Transport.HTTP),
    "traced stdio": lambda: traced(Transport.STDIO),
    "traced http": lambda: traced(Transport.HTTP),
    "protected": lambda: protected(Transport.HTTP, "sec.*"),
    "certified": certified,
    "loaded": loaded,
}
ran: dict[str, Run] = {}


async def run_named(name: str) -> Run:
    if name not in ran:
        ran[name] = await PLAYED[name]()
    return ran[name]


def complaints(cells: list[CellResult]) -> list[str]:
    found = [
        f"{cell.scenario} on {cell.transport} at {cell.revision}: {one.requirement}: {one.observed}"
        for cell in cells
        for check in cell.checks
        for one in check.findings
    ]
    return found + [f"{one.scenario} at {one.revision}: {one.reason}" for one in cells if one.broke_off]


@pytest.mark.timeout(240)
@pytest.mark.parametrize("name", PLAYED)
async def test_healthy_server_has_no_finding(name: str) -> None:
    expect_none(complaints((await run_named(name)).cells))


@pytest.mark.timeout(240)
async def test_every_row_is_seen_to_hold_somewhere() -> None:
    cells = [cell for name in PLAYED for cell in (await run_named(name)).cells]
    proved = {check.id for cell in cells for check in cell.checks if check.verdict is Verdict.SUCCESS}
    rows = [row for check in SUITE.checks.values() for row in check.requirements]
    expect_none(f"{row} saw nothing" for row in rows if row not in proved)
