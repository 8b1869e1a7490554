"""An address to open, for a client that said it only has forms."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.asking_tools import add_asking
from assay.lab.client.questions import FORM
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.revisions.revision import Asking


@client_scenario(
    "A mode that was not declared is refused",
    brief=Brief(
        steps=(LIST_TOOLS, call("asking")), capabilities=("elicitation",), answers={"elicitation": "decline"}
    ),
    exercises=("asking.refused",),
    window=lambda revision: "url" in revision.elicitation and revision.asking is Asking.BY_REQUEST,
)
async def drive(stage: ClientStage) -> None:
    about = {"mode": "url", "message": "Sign in", "url": "https://example.com/in", "elicitationId": "one"}
    add_asking(stage.host, "asking", (FORM, about))
