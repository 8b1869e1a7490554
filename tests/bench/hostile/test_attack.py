"""Each attack reaches a server, and an ordinary client gets its answers."""

import pytest

from assay import Server
from bench.hostile.attack import PLANS, Plan, run
from bench.hostile.ordinary import OrdinaryClient
from tests.driving.hosts import on_assay

server = Server("target")


@server.tool
async def add(a: int, b: int) -> int:
    return a + b


@server.tool
def add_in_thread(a: int, b: int) -> int:
    return a + b


@pytest.mark.parametrize("name", PLANS)
async def test_an_attack_is_carried_out(name: str) -> None:
    plan = PLANS[name]
    async with on_assay(server.asgi()) as port:
        tally = await run(Plan(plan.title, plan.attack, connections=1, most=1), port, 0.2)
    assert tally.sent
    assert tally.empty == 0


async def test_an_ordinary_client_works_and_keeps_its_session() -> None:
    async with on_assay(server.asgi()) as port:
        client = OrdinaryClient(port)
        await client.open_session()
        service = await client.work(0.1)
        assert await client.session_is_alive()
    assert service.calls and service.failures == []
