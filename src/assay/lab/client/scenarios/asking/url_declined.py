"""An address to open, that nobody wants to open: the canary there must stay alone."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.asking_tools import add_asking
from assay.lab.client.questions import CANARY, FORM
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
from assay.lab.harness.scripted_server.stage import ClientStage


@client_scenario(
    "An address that the user declines is not opened",
    brief=Brief(
        steps=(LIST_TOOLS, call("asking")),
        capabilities=("elicitation", "elicitation.url"),
        answers={"elicitation": "decline"},
    ),
    exercises=("asking.address", "asking.declared"),
    window=lambda revision: "url" in revision.elicitation,
)
async def drive(stage: ClientStage) -> None:
    async def sing(asked: Asked, reply: HttpReply) -> None:
        await reply.whole(200, b"<title>Sign in</title>", [("Content-Type", "text/html")])

    origin = await stage.room(CANARY, sing)
    named = {"elicitationId": "one"} if stage.revision.elicitation_ids else {}
    about = {"mode": "url", "message": "Sign in", "url": f"{origin}/sign-in", **named}
    add_asking(stage.host, "asking", (FORM, about))
