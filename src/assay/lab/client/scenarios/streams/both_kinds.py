"""One answer is a JSON document, the next an event stream, the last a stream with comments in it."""

from __future__ import annotations

import msgspec

from assay.lab.client.checks.streams.both_kinds import COMMENTED, PLAIN, STREAMED
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.answer import DONE, Answer, Raw
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

COMMENT = b": this is for nobody\n\n"


@client_scenario(
    "Both kinds of answer are understood, and comments ignored",
    brief=Brief(steps=(LIST_TOOLS, call(PLAIN), call(STREAMED), call(COMMENTED), call(AFTER))),
    exercises=("streams.both-kinds",),
    transports=HTTP_ONLY,
)
async def drive(stage: ClientStage) -> None:
    async def plainly(cycle: RequestCycle) -> Answer:
        return Raw(_answer(cycle, "plainly"), status=200)

    async def in_events(cycle: RequestCycle, how: str = "in events") -> Answer:
        await cycle.channel.send(_answer(cycle, how))
        await cycle.channel.finish()
        return DONE

    async def with_comments(cycle: RequestCycle) -> Answer:
        await cycle.channel.raw(COMMENT)
        await cycle.channel.raw(b":\n\n")
        return await in_events(cycle, "with comments")

    stage.host.add_tool({"name": PLAIN}, plainly)
    stage.host.add_tool({"name": STREAMED}, in_events)
    stage.host.add_tool({"name": COMMENTED}, with_comments)
    stage.host.add_tool({"name": AFTER})


def _answer(cycle: RequestCycle, text: str) -> bytes:
    result = cycle.host.shaped("tools/call", {"content": [{"type": "text", "text": text}]})
    return msgspec.json.encode({"jsonrpc": "2.0", "id": cycle.id, "result": result})
