"""HTTP errors, and responses that are not what they say they are."""

from __future__ import annotations

from assay.lab.client.checks.hostile.bad_responses import KINDS, SHORT
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.client.fixtures.hostility import WELL, called, trying
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
from assay.lab.harness.scripted_server.request_cycle import encode
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY


@client_scenario(
    "A bad response is bad for its request only",
    brief=trying(KINDS),
    exercises=("hostile.bad-responses",),
    transports=HTTP_ONLY,
)
async def drive(stage: ClientStage) -> None:
    host = stage.host
    for kind in (*KINDS, AFTER):
        host.add_tool({"name": kind})

    @host.on_http
    async def answer(asked: Asked, reply: HttpReply) -> bool:
        number, tool = called(asked)
        if tool not in KINDS:
            return False
        status, headers, body = KINDS[tool]
        answer = encode({"jsonrpc": "2.0", "id": number, "result": host.shaped("tools/call", WELL)})
        whole = body.replace(b"ANSWER", answer)
        if tool == SHORT:
            await reply.stream()
            await reply.block(whole)
            reply.cut()
        else:
            await reply.whole(status, whole, headers)
        return True
