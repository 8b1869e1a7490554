"""The everything server passes all that it has the fixtures for, on every transport and revision."""

import pytest

from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.run.runner import Runner, RunSettings
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Outcome, Verdict
from assay.lab.suites import suite_named
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from tests.lab.healthy_server import bundled
from tests.meta.tree import expect_none

SUITE = suite_named("everything")
# What one test has played, others look at: `make test` keeps a file in one process.
pytestmark = pytest.mark.long
DOUBLED = ("skills",)
"""Areas of which the server shows a part: their doubles show every rule."""
# A scenario on stdio costs a process: there the newest revision of each kind stands for all, which the other
# transports run.
TRIED = {Transport.STDIO: (HANDSHAKE[-1], PER_REQUEST[-1])}
ran: dict[Transport, Run] = {}


async def run_on(transport: Transport) -> Run:
    def keep(result: CellResult, trace: Trace) -> CellResult:
        return result

    if transport not in ran:
        order = RunSettings(SUITE, Selection(revisions=TRIED.get(transport, ())), jobs=4)
        runner = Runner(order, [bundled("everything", transport)], lambda event: None, keep)
        ran[transport] = await runner.run()
    return ran[transport]


@pytest.mark.timeout(240)
@pytest.mark.parametrize("transport", [Transport.HTTP, Transport.STDIO, Transport.WEBSOCKET])
async def test_everything_server_is_green(transport: Transport) -> None:
    run = await run_on(transport)
    expect_none(
        f"{cell.scenario} at {cell.revision}: {cell.outcome}: {cell.reason}"
        + "".join(f"; {one.requirement}: {one.observed}" for check in cell.checks for one in check.findings)
        for cell in run.cells
        if cell.outcome is not Outcome.PASSED
    )


@pytest.mark.timeout(240)
async def test_every_official_id_sees_something_on_the_everything_server() -> None:
    run = await run_on(Transport.HTTP)
    proved = {check.id for cell in run.cells for check in cell.checks if check.verdict is Verdict.SUCCESS}
    expect_none(
        f"{row} of {scenario.id} saw nothing"
        for scenario in SUITE.scenarios.values()
        if scenario.area not in DOUBLED
        for row in SUITE.sought(scenario)
        if row not in proved
    )
