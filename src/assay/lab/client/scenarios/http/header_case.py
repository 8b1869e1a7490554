"""An answer whose headers have names in an unusual case."""

from __future__ import annotations

import msgspec

from assay.lab.client.checks.http.header_case import ODD
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.links.http_text import JSON
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.http_listener import HttpChannel
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY


@client_scenario(
    "Header names mean the same in any case",
    brief=Brief(steps=(LIST_TOOLS, call(ODD), call(AFTER))),
    exercises=("http.header-case",),
    transports=HTTP_ONLY,
)
async def drive(stage: ClientStage) -> None:
    async def answer(cycle: RequestCycle) -> Answer:
        content = {"content": [{"type": "text", "text": "in odd case"}]}
        if not isinstance(cycle.channel, HttpChannel):
            return content
        result = cycle.host.shaped("tools/call", content)
        body = msgspec.json.encode({"jsonrpc": "2.0", "id": cycle.id, "result": result})
        await cycle.channel.http.whole(200, body, [("cOnTeNt-TyPe", JSON)])
        return DONE

    stage.host.add_tool({"name": ODD}, answer)
    stage.host.add_tool({"name": AFTER})
