"""The healthy servers pass: no finding on any transport, and every check sees something."""

import asyncio
from pathlib import Path

import pytest

from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.run.runner import Runner, RunSettings
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Outcome, Verdict
from assay.lab.suites import protocol_suite
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Revision
from tests.lab.healthy_server import healthy
from tests.lab.suite.protected import judge_protected
from tests.meta.tree import ROOT, expect_none

SUITE = protocol_suite()
NEWEST = (HANDSHAKE[-1], PER_REQUEST[-1])
# Elsewhere they mostly wait.
JOBS = {Transport.STDIO: 5}
SERVERS = ("everything", "reference")
ran: dict[tuple[str, Transport], Run] = {}


def revisions_of(server: str, transport: Transport) -> tuple[Revision, ...]:
    """The revisions to judge at: all (an empty selection) on HTTP with one server, so that every check sees
    something; elsewhere the newest of each kind. `make demo` judges both servers at every revision."""
    if transport is Transport.HTTP_SSE:
        return HANDSHAKE[:1]
    return () if (server, transport) == ("everything", Transport.HTTP) else NEWEST


async def run_of(server: str, transport: Transport) -> Run:
    """Several servers are judged at once: with effects allowed, the scenarios of one run one after another on
    other transports than stdio."""
    if (server, transport) not in ran:
        alike = [each for each in Transport if (each is Transport.STDIO) == (transport is Transport.STDIO)]
        await asyncio.gather(*(judge(name, each) for name in SERVERS for each in alike))
    return ran[server, transport]


def keep(result: CellResult, trace: Trace) -> CellResult:
    return result


async def judge_without_tasks() -> Run:
    """The bundled servers have tasks, so one scenario has nothing to ask them."""
    chosen = Selection(scenarios=("tasks.core-absent",), effects=True, revisions=NEWEST[:1])
    subject = healthy(str(ROOT / "examples" / "weather.py"), Transport.STDIO)
    return await Runner(RunSettings(SUITE, chosen, jobs=1), [subject], lambda event: None, keep).run()


async def judge(server: str, transport: Transport) -> None:
    chosen = Selection(effects=True, load=True, revisions=revisions_of(server, transport))
    order = RunSettings(SUITE, chosen, jobs=JOBS.get(transport, 12))
    ran[server, transport] = await Runner(order, [healthy(server, transport)], lambda event: None, keep).run()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("transport", Transport)
@pytest.mark.parametrize("server", SERVERS)
async def test_healthy_server_has_no_finding(server: str, transport: Transport) -> None:
    run = await run_of(server, transport)
    assert not run.subjects[0].refused
    expect_none(
        f"{cell.scenario} at {cell.revision}: {finding.requirement}: {finding.observed}"
        for cell in run.cells
        for check in cell.checks
        for finding in check.findings
    )
    expect_none(f"{cell.scenario} at {cell.revision}: {cell.reason}" for cell in run.cells if cell.broke_off)


@pytest.mark.timeout(240)
async def test_every_check_and_scenario_proves_something_on_a_healthy_server(tmp_path: Path) -> None:
    """What never sees anything proves nothing: neither the checks nor the scenarios may be idle."""
    cells = [
        cell
        for server in SERVERS
        for transport in Transport
        for cell in (await run_of(server, transport)).cells
    ]
    cells += (await judge_protected(Transport.HTTP, tmp_path))[0].cells
    cells += (await judge_without_tasks()).cells
    proved = {check.id for cell in cells for check in cell.checks if check.verdict is Verdict.SUCCESS}
    passed = {cell.scenario for cell in cells if cell.outcome is Outcome.PASSED}
    expect_none(f"check {name} saw nothing" for name in SUITE.checks if name not in proved)
    expect_none(f"scenario {name} proved nothing" for name in SUITE.scenarios if name not in passed)
