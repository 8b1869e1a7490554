"""How many requests are served at once, and in which order the others follow."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

import pytest

from assay import RegistrationError, Scope, Server
from assay.middleware import Concurrency
from tests.server.scripted import GUARD, ScriptedClient, finished, quiescence, reached


class Gate:
    """A server whose only tool waits until it is let go, and what happened there."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.server = Server("test")
        self.middleware = Concurrency(*args, **options)
        self.server.use(self.middleware, methods=["tools/call"])
        self.running: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.order: list[str] = []
        self._release: asyncio.Queue[None] = asyncio.Queue()

        @self.server.tool
        async def work(caller: str) -> None:
            self.order.append(caller)
            for name in (caller, "all"):
                self.running[name] += 1
                self.most[name] = max(self.most[name], self.running[name])
            try:
                await self._release.get()
            finally:
                self.running[caller] -= 1
                self.running["all"] -= 1

    def call(self, caller: str) -> asyncio.Task[Any]:
        return asyncio.create_task(self._call(caller))

    async def _call(self, caller: str) -> Any:
        params = {"name": "work", "arguments": {"caller": caller}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        async with asyncio.timeout(GUARD):
            return json.loads(await self.server.handle(message, scope=Scope(principal=caller)) or b"")

    def release(self, count: int) -> None:
        for _ in range(count):
            self._release.put_nowait(None)


async def test_no_more_than_the_size_are_served_at_once() -> None:
    gate = Gate(3)
    tasks = [gate.call("ada") for _ in range(10)]
    await quiescence()
    assert gate.running["all"] == 3
    gate.release(10)
    assert all("result" in answer for answer in await asyncio.gather(*tasks))
    assert gate.most["all"] == 3


async def test_callers_take_turns() -> None:
    gate = Gate(1)
    tasks = [gate.call("greedy") for _ in range(5)]
    await quiescence()
    tasks += [gate.call("ada"), gate.call("bob")]
    await quiescence()
    gate.release(7)
    await asyncio.gather(*tasks)
    assert gate.order[:4] == ["greedy", "greedy", "ada", "bob"]


async def test_limit_per_caller_does_not_delay_others_and_leaves_nothing_behind() -> None:
    gate = Gate(16, per_caller=True)
    tasks = [gate.call(caller) for caller in ("ada", "bob") for _ in range(20)]
    await quiescence()
    assert (gate.running["ada"], gate.running["bob"]) == (16, 16)
    gate.release(40)
    await asyncio.gather(*tasks)
    assert gate.middleware._limits == {}


async def test_too_many_waiting_requests_are_refused_as_busy() -> None:
    gate = Gate(1, backlog=1)
    tasks = [gate.call("ada") for _ in range(3)]
    await quiescence()
    gate.release(2)
    answers = await asyncio.gather(*tasks)
    assert sorted(answer.get("error", {}).get("code", 0) for answer in answers) == [-31004, 0, 0]


async def test_request_that_waits_can_be_cancelled_and_its_place_goes_to_the_next() -> None:
    gate = Gate(1)
    async with ScriptedClient(gate.server) as client:
        first = client.start_call("work", caller="first")
        await quiescence()
        second = client.start_call("work", caller="second")
        third = client.start_call("work", caller="third")
        await quiescence()
        await client.cancel(3)
        assert await finished(second) is None
        gate.release(2)
        assert [(await finished(task))["id"] for task in (first, third)] == [2, 4]
    assert gate.order == ["first", "third"]


async def test_place_is_free_again_after_a_failure() -> None:
    server = Server("test")
    server.use(Concurrency(1))
    for _ in range(3):
        message = {"jsonrpc": "2.0", "id": 1, "method": "no/such"}
        assert b"-32601" in (await server.handle(message) or b"")


async def test_listen_streams_hold_no_place() -> None:
    server, begun = Server("test", capabilities={"tools": True}), asyncio.Event()
    server.use(Concurrency(1))
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"_meta": meta, "notifications": {"toolsListChanged": True}}

    async def send(data: bytes) -> None:
        begun.set()

    message = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}
    listening = asyncio.create_task(server.handle(message, send=send))
    await reached(begun)
    assert b"result" in (await server.handle({"jsonrpc": "2.0", "id": 2, "method": "ping"}) or b"")
    server.end_listening()
    assert b"result" in await finished(listening)
    await server.stop()


@pytest.mark.parametrize(("size", "backlog"), [(0, 1), (1, -1)])
def test_numbers_must_make_sense(size: int, backlog: int) -> None:
    with pytest.raises(RegistrationError, match="size must be at least 1"):
        Concurrency(size, backlog=backlog)
