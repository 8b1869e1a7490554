"""The server that claims the profile keeps it: no finding on either transport, and every row is seen."""

import pytest

from assay.lab.harness.certified import Office
from assay.lab.harness.playing import Conditions
from assay.lab.harness.run import CellResult, Run
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Verdict
from tests.lab.marketplace.ground import PROFILE, SUITE, healthy, protected, run_of
from tests.meta.tree import expect_none

# What one test has played, others look at: `make test` keeps a file in one process.
pytestmark = pytest.mark.long
LOCKED = "sec.*"
ran: dict[tuple[Transport, bool], Run] = {}


async def run_on(transport: Transport, *, locked: bool = False) -> Run:
    if (transport, locked) not in ran:
        ran[transport, locked] = await (protected(transport, LOCKED) if locked else healthy(transport))
    return ran[transport, locked]


async def certified() -> Run:
    """The same server, where it asks for certificates."""
    office = Office(*PROFILE)
    try:
        return await run_of(office.served(), Conditions(), "sec.certificate")
    finally:
        office.close()


def complaints(cells: list[CellResult]) -> list[str]:
    found = [
        f"{cell.scenario} on {cell.transport} at {cell.revision}: {one.requirement}: {one.observed}"
        for cell in cells
        for check in cell.checks
        for one in check.findings
    ]
    return found + [f"{one.scenario} at {one.revision}: {one.reason}" for one in cells if one.broke_off]


@pytest.mark.timeout(240)
@pytest.mark.parametrize("transport", [Transport.STDIO, Transport.HTTP])
async def test_healthy_server_has_no_finding(transport: Transport) -> None:
    expect_none(complaints((await run_on(transport)).cells))


@pytest.mark.timeout(240)
async def test_protected_server_has_no_finding() -> None:
    expect_none(complaints((await run_on(Transport.HTTP, locked=True)).cells))


@pytest.mark.timeout(240)
async def test_every_row_is_seen_to_hold_somewhere() -> None:
    runs = [await run_on(Transport.STDIO), await run_on(Transport.HTTP)]
    runs += [await run_on(Transport.HTTP, locked=True), await certified()]
    proved = {
        check.id
        for run in runs
        for cell in run.cells
        for check in cell.checks
        if check.verdict is Verdict.SUCCESS
    }
    expect_none(
        f"{row} saw nothing" for check in SUITE.checks.values() for row in check.rows if row not in proved
    )
