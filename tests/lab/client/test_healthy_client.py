"""The scripted client conforms in every scenario, on every transport, at the newest revision of each kind."""

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
# The tests share the runs below: `make test` keeps a file in one process.
pytestmark = pytest.mark.long
TRANSPORTS = (Transport.HTTP, Transport.STDIO, Transport.WEBSOCKET)
CONCURRENT = 8
LIMIT = 30.0


def complaint(run: ClientRun) -> str | None:
    result = run.result
    if result.outcome is Outcome.PASSED:
        return None
    findings = ", ".join(
        f"{check.id}:{finding.requirement}" for check in result.checks for finding in check.findings
    )
    stderr = run.exit.stderr.decode(errors="replace").strip()
    where = f"{result.scenario} on {result.transport} at {result.revision}"
    return f"{where}: {result.outcome}; {result.reason} {findings}; stderr: {stderr}"


AREAS = sorted({scenario.area for scenario in SUITE.scenarios.values()})
cached: dict[str, list[ClientRun]] = {}
"""Runs by area."""


async def runs_of(area: str) -> list[ClientRun]:
    if area not in cached:
        cells = [cell for cell in planned(ClientOrder(SUITE), TRANSPORTS) if cell.scenario.area == area]
        cached[area] = await run_all(cells)
    return cached[area]


async def run_all(cells: list[Cell]) -> list[ClientRun]:
    limit = asyncio.Semaphore(CONCURRENT)

    async def run(cell: Cell) -> ClientRun:
        async with limit:
            return await run_client(cell, InProcessClient(None, cell.transport), SUITE, LIMIT)

    return list(await asyncio.gather(*map(run, cells)))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("area", AREAS)
async def test_healthy_client_passes_every_scenario(area: str) -> None:
    runs = await runs_of(area)
    assert runs
    expect_none(filter(None, map(complaint, runs)))


@pytest.mark.timeout(240)
async def test_every_check_observes_the_healthy_client() -> None:
    observed = {
        check.id
        for area in AREAS
        for run in await runs_of(area)
        for check in run.result.checks
        if check.verdict is Verdict.SUCCESS
    }
    every = dict.fromkeys(result for check in SUITE.checks.values() for result in check.results)
    expect_none(
        f"{result}: observes nothing of the healthy client" for result in every if result not in observed
    )
