"""The stream of a call ends in order before the answer, which waits for the client to come back."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from itertools import count
from typing import Any

from assay.lab.client.declaring import official_scenario
from assay.lab.client.fixtures.stream_break import BROKEN_AT, RETRY, TOOL
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
from assay.lab.harness.scripted_server.request_cycle import RequestCycle, encode
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.protocol.framing import sse

OPEN_FOR = 0.05
"""Seconds that the stream of the call lasts."""
ANYWHERE_AFTER = 1.0
"""Seconds after which the answer goes to a client, too, that came back without saying what it missed."""


@official_scenario(
    "sse-retry",
    "A stream ends before the answer, and the client comes back for it",
    brief=Brief(steps=(LIST_TOOLS, call(TOOL)), path=""),
)
async def drive(stage: ClientStage) -> None:
    stage.host.sessions = True
    stage.host.streams = False
    stage.host.add_tool({"name": TOOL, "description": "Ends its stream early"}, _Broken(stage).call)


class _Broken:
    """The call whose stream was ended, until its answer is fetched."""

    def __init__(self, stage: ClientStage) -> None:
        self._owed: asyncio.Queue[Any] = asyncio.Queue()
        self._numbers = count(1)
        stage.host.on_http(self._get)

    async def call(self, cycle: RequestCycle) -> Answer:
        await cycle.channel.raw(sse.priming(BROKEN_AT, RETRY))
        await asyncio.sleep(OPEN_FOR)
        self._owed.put_nowait(cycle.id)
        await cycle.channel.finish()
        return DONE

    async def _get(self, asked: Asked, reply: HttpReply) -> bool:
        if asked.method != "GET" or asked.path != "/":
            return False
        late = not self._owed.empty()
        await reply.stream()
        await reply.block(sse.priming(f"get-{next(self._numbers)}", RETRY))
        if asked.header("last-event-id") == BROKEN_AT:
            await self._answer(reply)
        elif late:
            with suppress(TimeoutError):
                await asyncio.wait_for(reply.left.wait(), ANYWHERE_AFTER)
            await self._answer(reply)
        if not reply.over:
            await reply.left.wait()
        return True

    async def _answer(self, reply: HttpReply) -> None:
        if not self._owed.empty() and not reply.left.is_set():
            result = {"content": [{"type": "text", "text": "Reconnection test completed"}]}
            body = encode({"jsonrpc": "2.0", "id": self._owed.get_nowait(), "result": result})
            await reply.block(sse.event(body, event_id="answer-1"))
            await reply.end()
