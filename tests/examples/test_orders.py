"""The example with a lifespan and dependencies."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from assay import Server
from examples import orders
from tests.driving.describing import describe
from tests.driving.process import stdio_process


@pytest_asyncio.fixture
async def server() -> AsyncIterator[Server]:
    async with orders.server as running:
        yield running


async def structured(server: Server, tool: str, **arguments: Any) -> Any:
    return (await server.tools.call(tool, arguments)).structured["result"]  # type: ignore[index,call-overload]


async def test_order_is_listed(server: Server) -> None:
    await server.tools.call("order", {"article": "hat", "count": 2})
    assert await structured(server, "orders") == [{"id": 1, "article": "hat", "count": 2}]


async def test_failed_order_is_rolled_back(server: Server) -> None:
    assert (await server.tools.call("order", {"article": "hat", "count": 0})).is_error
    assert await structured(server, "orders") == []


async def test_customers_see_their_orders_only(server: Server) -> None:
    with server.override(orders.customer, lambda: "ada"):
        await server.tools.call("order", {"article": "hat"})
    assert await structured(server, "orders") == []


async def test_database_survives_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDERS", os.fspath(tmp_path / "orders.db"))
    for tool, arguments in (("order", {"article": "hat"}), ("orders", {})):
        async with stdio_process("examples/orders.py") as process:
            answer = await process.ask(describe("tools/call", {"name": tool, "arguments": arguments}))
            process.end_input()
            assert await process.exit_code() == 0
    assert answer["result"]["structuredContent"] == [{"id": 1, "article": "hat", "count": 1}]
