"""A server of the first transport: a stream for what it says, and another address for what it is told."""

from __future__ import annotations

import msgspec

from assay.lab.client.checks.streams.old_server import MESSAGES, TOLD
from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.http_listener import HttpChannel
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY
from assay.revisions.registry import HANDSHAKE


class OldChannel(HttpChannel):
    """One stream for all answers: none of them ends it."""

    async def reply(self, body: bytes, status: int | None = None) -> None:
        await self.send(body)


@client_scenario(
    "A server of the first transport is reached all the same",
    brief=Brief(steps=(LIST_TOOLS, call("work")), may_fail=True),
    exercises=("streams.old-server",),
    transports=HTTP_ONLY,
    window=lambda revision: revision in HANDSHAKE,
)
async def drive(stage: ClientStage) -> None:
    streams: list[HttpReply] = []

    @stage.host.on_http
    async def serve(asked: Asked, reply: HttpReply) -> bool:
        if asked.method == "GET":
            await reply.stream()
            await reply.block(TOLD + f"\ndata: {MESSAGES}\n\n".encode())
            streams.append(reply)
            await reply.left.wait()
        elif asked.path == MESSAGES and streams:
            await reply.whole(202)
            await take(asked, streams[-1])
        else:
            await reply.whole(405)
        return True

    async def take(asked: Asked, stream: HttpReply) -> None:
        try:
            message = msgspec.json.decode(asked.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        if isinstance(message, dict):
            channel = OldChannel(stream, "1", streams=True, headers=[])
            await stage.host.receive(RequestCycle(stage.host, message, channel, asked))

    stage.host.add_tool({"name": "work"})
