"""The lab's own client breaks no rule: in every scenario, on every transport, at the newest of each kind."""

import asyncio

import pytest

from assay.lab.harness.run.plan import Cell
from assay.lab.harness.scripted_client.in_process import InProcessClient
from assay.lab.harness.scripted_server.client_run import ClientRun, run_client
from assay.lab.harness.scripted_server.runner import ClientOrder, planned
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Outcome, Verdict
from assay.lab.suites import suite_named
from tests.meta.tree import expect_none

SUITE = suite_named("client")
# Tests share runs: `make test` keeps a file in one process.
pytestmark = pytest.mark.long
TRANSPORTS = (Transport.HTTP, Transport.STDIO, Transport.WEBSOCKET)
CONCURRENT = 8
LIMIT = 30.0


def complaint(run: ClientRun) -> str | None:
    result = run.result
    if result.outcome is Outcome.PASSED:
        return None
    found = ", ".join(f"{one.id}:{finding.requirement}" for one in result.checks for finding in one.findings)
    stderr = run.ended.stderr.decode(errors="replace").strip()
    where = f"{result.scenario} on {result.transport} at {result.revision}"
    return f"{where}: {result.outcome}; {result.reason or 'found'} {found}; stderr: {stderr}"


AREAS = sorted({one.area for one in SUITE.scenarios.values()})
done: dict[str, list[ClientRun]] = {}
"""Runs by area, shared by the tests below."""


async def runs_of(area: str) -> list[ClientRun]:
    if area not in done:
        cells = [one for one in planned(ClientOrder(SUITE), TRANSPORTS) if one.scenario.area == area]
        done[area] = await run_all(cells)
    return done[area]


async def run_all(cells: list[Cell]) -> list[ClientRun]:
    gate = asyncio.Semaphore(CONCURRENT)

    async def run_one(cell: Cell) -> ClientRun:
        async with gate:
            return await run_client(cell, InProcessClient(None, cell.transport), SUITE, LIMIT)

    return list(await asyncio.gather(*map(run_one, cells)))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("area", AREAS)
async def test_healthy_client_passes_every_scenario(area: str) -> None:
    runs = await runs_of(area)
    assert runs
    expect_none(filter(None, map(complaint, runs)))


@pytest.mark.timeout(240)
async def test_every_check_sees_something_on_the_healthy_client() -> None:
    seen = {
        check.id
        for area in AREAS
        for run in await runs_of(area)
        for check in run.result.checks
        if check.verdict is Verdict.SUCCESS
    }
    every = dict.fromkeys(result for check in SUITE.checks.values() for result in check.results)
    expect_none(f"{result}: sees nothing on the healthy client" for result in every if result not in seen)
