"""A stream breaks off before the answer; the rest waits for whoever comes back for it."""

from __future__ import annotations

import msgspec

from assay.lab.client.checks.streams.resumed import BROKEN
from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

LAST, RETRY = "event-7", 300


@client_scenario(
    "A stream that broke off is gone on with, no sooner than the server said",
    brief=Brief(steps=(LIST_TOOLS, call("broken")), may_fail=True),
    exercises=("streams.resumed",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.priming,
)
async def drive(stage: ClientStage) -> None:
    async def break_off(cycle: RequestCycle) -> Answer:
        result = {"content": [{"type": "text", "text": "the rest"}]}
        rest = {"jsonrpc": "2.0", "id": cycle.id, "result": result}
        cycle.host.memory["rest"] = msgspec.json.encode(rest)
        await cycle.channel.raw(f"id: {LAST}\nretry: {RETRY}\ndata:\n\n".encode())
        cycle.host.mark(BROKEN, last=LAST, retry=RETRY)
        await cycle.channel.finish()
        return DONE

    @stage.host.on_http
    async def go_on(asked: Asked, reply: HttpReply) -> bool:
        if asked.method != "GET" or "rest" not in stage.host.memory:
            return False
        await reply.stream()
        await reply.block(b"id: event-8\ndata: %b\n\n" % stage.host.memory["rest"])
        await reply.end()
        return True

    stage.host.add_tool({"name": "broken"}, break_off)
