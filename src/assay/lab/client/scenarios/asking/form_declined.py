"""A form, without saying that it is one: the client answers decline."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.asking_tools import A_FORM, add_asking
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage


@client_scenario(
    "A form is declined",
    brief=Brief(
        steps=(LIST_TOOLS, call("asking")), capabilities=("elicitation",), answers={"elicitation": "decline"}
    ),
    exercises=("asking.declared", "asking.modes"),
    window=lambda revision: bool(revision.elicitation),
)
async def drive(stage: ClientStage) -> None:
    add_asking(stage.host, "asking", A_FORM)
