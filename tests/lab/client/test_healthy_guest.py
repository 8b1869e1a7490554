"""The lab's own client breaks no rule: in every scenario, on every transport, at the newest of each kind."""

import asyncio

import pytest

from assay.lab.harness.run.plan import Cell
from assay.lab.harness.scripted_client.in_process import InProcessClient
from assay.lab.harness.scripted_server.client_run import ClientRun, visit
from assay.lab.harness.scripted_server.runner import ClientOrder, planned
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Outcome, Verdict
from assay.lab.suites import suite_named
from tests.meta.tree import expect_none

SUITE = suite_named("client")
# What one test has played, others look at: `make test` keeps a file in one process.
pytestmark = pytest.mark.long
TRANSPORTS = (Transport.HTTP, Transport.STDIO, Transport.WEBSOCKET)
CONCURRENT = 8
LIMIT = 30.0


def complaint(visited: ClientRun) -> str | None:
    result = visited.result
    if result.outcome is Outcome.PASSED:
        return None
    found = ", ".join(f"{one.id}:{finding.requirement}" for one in result.checks for finding in one.findings)
    said = visited.ended.stderr.decode(errors="replace").strip()
    where = f"{result.scenario} on {result.transport} at {result.revision}"
    return f"{where}: {result.outcome}; {result.reason or 'found'} {found}; it said: {said}"


AREAS = sorted({one.area for one in SUITE.scenarios.values()})
held: dict[str, list[ClientRun]] = {}
"""Visits by area: they are paid once, whichever test asks first."""


async def visits_of(area: str) -> list[ClientRun]:
    if area not in held:
        cells = [one for one in planned(ClientOrder(SUITE), TRANSPORTS) if one.scenario.area == area]
        held[area] = await visit_all(cells)
    return held[area]


async def visit_all(cells: list[Cell]) -> list[ClientRun]:
    gate = asyncio.Semaphore(CONCURRENT)

    async def one(cell: Cell) -> ClientRun:
        async with gate:
            return await visit(cell, InProcessClient(None, cell.transport), SUITE, LIMIT)

    return list(await asyncio.gather(*map(one, cells)))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("area", AREAS)
async def test_the_healthy_guest_passes_every_scenario(area: str) -> None:
    visits = await visits_of(area)
    assert visits
    expect_none(filter(None, map(complaint, visits)))


@pytest.mark.timeout(240)
async def test_every_check_sees_something_on_the_healthy_guest() -> None:
    seen = {
        check.id
        for area in AREAS
        for visited in await visits_of(area)
        for check in visited.result.checks
        if check.verdict is Verdict.SUCCESS
    }
    every = dict.fromkeys(result for check in SUITE.checks.values() for result in check.results)
    expect_none(f"{result}: sees nothing on the healthy guest" for result in every if result not in seen)
