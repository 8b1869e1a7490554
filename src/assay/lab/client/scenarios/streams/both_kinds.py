"""One answer is a JSON document, the next an event stream, the last a stream with comments in it."""

from __future__ import annotations

import msgspec

from assay.lab.client.checks.streams.both_kinds import COMMENTED, PLAIN, STREAMED
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.answer import DONE, Answer, Raw
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import Turn
from assay.lab.harness.scripted_server.stage import Hosting
from assay.lab.harness.transport import HTTP_ONLY

COMMENT = b": this is for nobody\n\n"


@client_scenario(
    "Both kinds of answer are understood, and comments ignored",
    brief=Brief(steps=(LIST_TOOLS, call(PLAIN), call(STREAMED), call(COMMENTED), call(AFTER))),
    exercises=("streams.both-kinds",),
    transports=HTTP_ONLY,
)
async def drive(stage: Hosting) -> None:
    async def plainly(turn: Turn) -> Answer:
        return Raw(_answer(turn, "plainly"), status=200)

    async def in_events(turn: Turn, how: str = "in events") -> Answer:
        await turn.channel.send(_answer(turn, how))
        await turn.channel.finish()
        return DONE

    async def with_comments(turn: Turn) -> Answer:
        await turn.channel.raw(COMMENT)
        await turn.channel.raw(b":\n\n")
        return await in_events(turn, "with comments")

    stage.host.add_tool({"name": PLAIN}, plainly)
    stage.host.add_tool({"name": STREAMED}, in_events)
    stage.host.add_tool({"name": COMMENTED}, with_comments)
    stage.host.add_tool({"name": AFTER})


def _answer(turn: Turn, text: str) -> bytes:
    result = turn.host.shaped("tools/call", {"content": [{"type": "text", "text": text}]})
    return msgspec.json.encode({"jsonrpc": "2.0", "id": turn.id, "result": result})
