"""A client with many requests next to an ordinary one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from assay import Limits, Server
from assay.model.error import BUSY
from assay.revisions.registry import HANDSHAKE
from tests.driving.asgi import AsgiPeer
from tests.driving.messages import call
from tests.server.scripted import GUARD, quiescence

MANY = 100
OTHER_ADDRESS = ("192.0.2.2", 50000)


class Hall:
    """A server with slow tools that end when the test says so, and a quick one."""

    def __init__(self, **limits: Any) -> None:
        self.server = Server("hall", limits=Limits(**limits))
        self.release = threading.Event()
        self.end = asyncio.Event()
        self.started: list[int] = []
        self.server.tools.add(self.slow)
        self.server.tools.add(self.slow_in_loop)
        self.server.tools.add(lambda: "quick", name="quick")
        self.app = self.server.asgi()

    def slow(self, number: int) -> int:
        self.started.append(number)
        self.release.wait(GUARD)
        return number

    async def slow_in_loop(self, number: int) -> int:
        self.started.append(number)
        await self.end.wait()
        return number

    def let_all_out(self) -> None:
        self.release.set()
        self.end.set()


@pytest.fixture
async def hall(request: pytest.FixtureRequest) -> AsyncIterator[Hall]:
    opened = Hall(**request.param)
    yield opened
    opened.let_all_out()


SLOW = ["slow", "slow_in_loop"]


@pytest.mark.parametrize("hall", [{"threads": 2, "concurrency": 16}], indirect=True)
@pytest.mark.parametrize("tool", SLOW)
async def test_client_is_served_while_another_occupies_the_server(hall: Hall, tool: str) -> None:
    async with AsgiPeer(hall.app) as hostile, AsgiPeer(hall.app, client=OTHER_ADDRESS) as ordinary:
        for number in range(MANY):
            hostile.begin("POST", call(tool, number, number=number))
        await quiescence()
        answer = await ordinary.post(call("quick", 1))
        assert answer.json["result"]["content"][0]["text"] == "quick"
        assert len(hall.started) < MANY
        hall.let_all_out()


@pytest.mark.parametrize("hall", [{"threads": 1, "concurrency": 4}], indirect=True)
@pytest.mark.parametrize("tool", SLOW)
async def test_requests_of_clients_that_have_gone_are_dropped_from_the_queue(hall: Hall, tool: str) -> None:
    async with AsgiPeer(hall.app) as hostile:
        answers = [hostile.begin("POST", call(tool, number, number=number)) for number in range(MANY)]
        await quiescence()
        while not hall.started:  # a thread may take its time to start
            await quiescence()
        running = len(hall.started)
        for answer in answers:
            answer.leave()
        await quiescence()
        hall.let_all_out()
        assert (await hostile.post(call("quick", 1))).status == 200
        assert len(hall.started) == running < MANY


@pytest.mark.parametrize("hall", [{"threads": 1}], indirect=True)
async def test_request_in_a_session_stays_in_the_queue_when_its_connection_ends(hall: Hall) -> None:
    async with AsgiPeer(hall.app) as client:
        await client.shake_hands(HANDSHAKE[-1])
        answers = [client.begin("POST", call("slow", number, number=number)) for number in (1, 2)]
        await quiescence()
        answers[1].leave()
        await quiescence()
        hall.let_all_out()
        await client.post(call("quick", 3))
        assert hall.started == [1, 2]


@pytest.mark.parametrize("hall", [{"concurrency": 1, "backlog": 1}], indirect=True)
async def test_busy_is_status_503_with_a_time_to_try_again(hall: Hall) -> None:
    async with AsgiPeer(hall.app) as client:
        for number in (1, 2):
            client.begin("POST", call("slow_in_loop", number, number=number))
        await quiescence()
        answer = await client.post(call("quick", 3))
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert (answer.json["id"], answer.json["error"]["code"]) == (3, BUSY)
        hall.let_all_out()


@pytest.mark.parametrize("hall", [{"threads": 2, "idle_timeout": 0.2}], indirect=True)
async def test_hung_threads_do_not_stop_other_tools(hall: Hall) -> None:
    async with AsgiPeer(hall.app) as client:
        for number in range(3):
            hung = await client.post(call("slow", number, number=number))
            assert "no activity" in hung.json["result"]["content"][0]["text"]
        answer = await client.post(call("quick", 3))
        assert answer.json["result"]["content"][0]["text"] == "quick"
