"""The endpoint sends a client with a token to another place."""

from __future__ import annotations

from assay.lab.client.authorization.authorizing import CODE, RESOURCES
from assay.lab.client.authorization.protected import protect
from assay.lab.client.checks.hostile.redirected import AWAY
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.client.fixtures.canary import open_canary
from assay.lab.client.fixtures.hostility import called, trying
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY


@client_scenario(
    "Nothing is carried to where a redirect leads",
    brief=trying(AWAY, oauth=CODE),
    exercises=("hostile.redirected",),
    transports=HTTP_ONLY,
    window=RESOURCES,
)
async def drive(stage: ClientStage) -> None:
    await protect(stage)
    port = await open_canary(stage)
    for name in (*AWAY, AFTER):
        stage.host.add_tool({"name": name})

    @stage.host.on_http
    async def send_away(asked: Asked, reply: HttpReply) -> bool:
        status = AWAY.get(called(asked)[1])
        if status is not None:
            await reply.whole(status, b"", [("Location", f"http://127.0.0.1:{port}/mcp")])
        return status is not None
