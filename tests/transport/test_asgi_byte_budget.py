"""Bytes in flight over all requests and WebSockets, under any ASGI server."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

from assay import Context, Limits, Server
from tests.driving.answer import PATIENCE
from tests.driving.asgi import AsgiAnswer, AsgiPeer
from tests.driving.describing import LOG_LEVEL, describe
from tests.driving.messages import call
from tests.driving.websocket import AsgiSocket

MESSAGE: Final = 100_000
LIMIT: Final = 10 * MESSAGE
CHUNK: Final = b"x" * 20_000


class Subject:
    def __init__(self) -> None:
        limits = Limits(message_bytes=MESSAGE, inflight_bytes=LIMIT, body_share=1)
        self.server = Server("bounded", limits=limits)
        self.budget = self.server.byte_budget
        self.app = self.server.asgi()
        self.held = 0
        self.release = asyncio.Event()
        self.server.tool(self.hold)
        self.server.tool(self.pour)

    def peer(self, host: str = "192.0.2.1") -> AsgiPeer:
        return AsgiPeer(self.app, client=(host, 50000))

    async def hold(self, text: str) -> str:
        self.held += 1
        await self.release.wait()
        return "done"

    async def pour(self, ctx: Context) -> str:
        for _ in range(LIMIT // len(CHUNK)):
            await ctx.log("info", CHUNK.decode())
        return "done"


def described(tool: str, number: int, **arguments: Any) -> dict[str, Any]:
    return describe("tools/call", {"name": tool, "arguments": arguments}, number, meta={LOG_LEVEL: "info"})


def unfinished(peer: AsgiPeer, *, declared: bool) -> AsgiAnswer:
    length = {"content-length": str(MESSAGE)} if declared else {}
    return peer.begin("POST", [CHUNK] * 4, headers={**length}, stalls=True)


async def settle() -> None:
    for _ in range(20):
        turn = asyncio.Event()
        asyncio.get_running_loop().call_soon(turn.set)
        await turn.wait()


@pytest.mark.parametrize("declared", [True, False])
async def test_unfinished_bodies_stay_within_the_limit(declared: bool) -> None:
    subject = Subject()
    async with subject.peer() as peer:
        answers = [unfinished(peer, declared=declared) for _ in range(250)]
        await settle()
        refused = [answer for answer in answers if answer.task.done()]
        assert 0 < subject.budget.used <= LIMIT // 2
        assert len(refused) >= 240
        for answer in refused:
            assert (answer.status, answer.headers["retry-after"]) == (503, "1")
            assert b"too many bytes in flight" in (await answer.complete()).body
            assert answer.headers["connection"] == "close"
    assert subject.budget.used == 0


async def test_bodies_of_one_client_leave_room_for_another() -> None:
    subject = Subject()
    subject.release.set()
    async with subject.peer() as hostile:
        for _ in range(250):
            unfinished(hostile, declared=True)
        await settle()
        async with subject.peer("192.0.2.2") as peer:
            assert (await peer.call("hold", text="x" * 90_000)).status == 200


async def test_large_message_counts_until_it_is_answered() -> None:
    subject = Subject()
    async with subject.peer() as peer:
        answer = peer.begin("POST", call("hold", text="x" * 50_000))
        small = peer.begin("POST", call("hold", text="x" * 1000))
        async with asyncio.timeout(PATIENCE):
            while subject.held < 2:
                await settle()
        assert 50_000 < subject.budget.used < 51_000
        subject.release.set()
        assert (await answer.complete()).status == (await small.complete()).status == 200
        assert subject.budget.used == 0


async def test_client_that_leaves_gives_its_bytes_back() -> None:
    subject = Subject()
    async with subject.peer() as peer:
        answer = unfinished(peer, declared=True)
        await settle()
        assert subject.budget.used == MESSAGE
        answer.leave()
        await settle()
        assert subject.budget.used == 0


async def test_message_that_is_too_large_is_not_called_busy() -> None:
    async with Subject().peer() as peer:
        assert (await peer.post(b"x" * (MESSAGE + 1))).status == 413


# WebSocket


async def test_websocket_messages_in_progress_are_closed_with_1013_when_they_are_too_many() -> None:
    subject = Subject()
    async with AsgiSocket(subject.app) as client:
        for number in range(6):
            await client.send(described("hold", number, text="x" * 90_000))
        closed = await client.closed()
    assert (closed.code, "too many bytes in flight" in closed.reason) == (1013, True)
    assert (subject.held, subject.budget.used) == (5, 0)


async def test_websocket_message_counts_until_it_is_answered() -> None:
    subject = Subject()
    async with AsgiSocket(subject.app) as client:
        await client.send(described("hold", 1, text="x" * 50_000))
        async with asyncio.timeout(PATIENCE):
            while not subject.held:
                await settle()
        assert 50_000 < subject.budget.used < 51_000
        subject.release.set()
        assert "result" in await client.receive()
        await settle()
        assert subject.budget.used == 0


async def test_unread_websocket_messages_count() -> None:
    subject = Subject()
    async with AsgiSocket(subject.app) as client:
        client.reads.clear()
        for number in range(LIMIT // MESSAGE):
            await client.send(described("pour", number))
        await settle()
        assert 0 < subject.budget.used <= LIMIT // 2
        client.reads.set()
        assert "result" in await _last_result(client)
        await settle()
        assert subject.budget.used == 0


async def _last_result(client: AsgiSocket) -> Any:
    results, answer = 0, None
    while results < LIMIT // MESSAGE:
        answer = await client.receive()
        results += "result" in answer
    return answer


async def test_client_that_leaves_too_much_unread_is_closed_with_1013() -> None:
    subject = Subject()
    async with AsgiSocket(subject.app) as client:
        client.reads.clear()
        others = subject.budget.share("others")
        assert others.resize(LIMIT // 2)
        for number in range(2 * LIMIT // MESSAGE):
            await client.send(described("pour", number))
        await settle()
        assert subject.budget.used == LIMIT // 2
        client.reads.set()
        assert (await client.closed()).code == 1013
