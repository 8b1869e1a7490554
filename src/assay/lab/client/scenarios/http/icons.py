"""A tool with icons: one of another origin, one that leads there, one that is a script."""

from __future__ import annotations

from assay.lab.client.checks.http.icons import DIRECT, OWN, REDIRECTED, ROOM
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

IMAGE = b"\x89PNG\r\n\x1a\n"


@client_scenario(
    "Icons are not trusted",
    brief=Brief(steps=(LIST_TOOLS, call(AFTER))),
    exercises=("http.icons",),
    transports=HTTP_ONLY,
)
async def drive(stage: ClientStage) -> None:
    async def serve(asked: Asked, reply: HttpReply) -> None:
        await reply.whole(200, IMAGE, [("Content-Type", "image/png")])

    elsewhere = await stage.room(ROOM, serve)

    @stage.host.on_http
    async def lead_away(asked: Asked, reply: HttpReply) -> bool:
        if asked.path != OWN:
            return False
        await reply.whole(302, b"", [("Location", f"{elsewhere}{REDIRECTED}")])
        return True

    sources = (f"{stage.origin}{OWN}", f"{elsewhere}{DIRECT}", "javascript:alert(1)")
    icons = [{"src": one, "mimeType": "image/png"} for one in sources]
    stage.host.add_tool({"name": AFTER, "icons": icons})
