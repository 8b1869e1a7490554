"""Everything server and double together have what an extension asks for: green, on every transport."""

import pytest

from assay.lab.everything.double import skills, tasks
from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.run.runner import Runner, RunSettings
from assay.lab.harness.sabotage.saboteur import Double, FaultContext, Json, Saboteur
from assay.lab.harness.sabotage.subject import HEALTHY
from assay.lab.harness.sabotage.testbed import Testbed
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Outcome, Verdict
from assay.lab.suites import suite_named
from assay.revisions.registry import PER_REQUEST
from tests.meta.tree import expect_none

pytestmark = pytest.mark.usefixtures("warm_servers")

SUITE = suite_named("everything")
TRANSPORTS = (Transport.HTTP, Transport.STDIO, Transport.WEBSOCKET)
REVISION = PER_REQUEST[-1]


def keep(result: CellResult, trace: Trace) -> CellResult:
    return result


def promising(**answer: object) -> Saboteur:
    """A server that has all that it declares and lists, and answers everything else alike."""

    def change(reply: Json, context: FaultContext) -> Json:
        if context.method in ("server/discover", "tools/list") or "method" in reply:
            return reply
        return {"jsonrpc": "2.0", "id": reply["id"], **answer}

    return Saboteur(id="by.hand", fault="only promises", breaks="nothing", reply=change)


EMPTY_PROMISES = {
    "denies": promising(error={"code": -32601, "message": "no"}),
    "finds fault": promising(error={"code": -32602, "message": "no"}),
    "says nothing": promising(result={"resultType": "complete"}),
}


async def run_of(ground: Testbed, area: str, transport: Transport, fault: Saboteur = HEALTHY) -> Run:
    names = tuple(one.id for one in SUITE.scenarios.values() if one.area == area)
    order = RunSettings(SUITE, Selection(scenarios=names, revisions=(REVISION,)), jobs=4)
    subject = ground.subject_for(fault, transport, REVISION)
    return await Runner(order, [subject], lambda event: None, keep).run()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("double", [tasks.DOUBLE, skills.DOUBLE], ids=lambda double: double.name)
async def test_all_scenarios_of_an_extension_are_green_on_its_double(double: Double) -> None:
    async with Testbed("everything", double) as ground:
        runs = {transport: await run_of(ground, double.name, transport) for transport in TRANSPORTS}
    cells = [cell for run in runs.values() for cell in run.cells]
    expect_none(
        f"{cell.scenario} on {cell.transport}: {cell.outcome}: {cell.reason}"
        + "".join(f"; {one.requirement}: {one.observed}" for check in cell.checks for one in check.findings)
        for cell in cells
        if cell.outcome is not Outcome.PASSED
    )
    proved = {check.id for cell in cells for check in cell.checks if check.verdict is Verdict.SUCCESS}
    wanted = [row for row, one in SUITE.requirements.items() if one.area == double.name]
    expect_none(f"{row} saw nothing" for row in wanted if row not in proved)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("double", [tasks.DOUBLE, skills.DOUBLE], ids=lambda double: double.name)
async def test_a_server_that_only_promises_an_extension_has_nothing_green(double: Double) -> None:
    async with Testbed("everything", double) as ground:
        runs = {
            name: await run_of(ground, double.name, Transport.HTTP, fault)
            for name, fault in EMPTY_PROMISES.items()
        }
    assert all(run.cells for run in runs.values())
    expect_none(
        f"{cell.scenario} on a server that {name}: {cell.outcome}"
        for name, run in runs.items()
        for cell in run.cells
        if cell.outcome in (Outcome.PASSED, Outcome.WARNED)
    )
