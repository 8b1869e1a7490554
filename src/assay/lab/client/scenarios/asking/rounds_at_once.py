"""Two calls at once, each with a question and a state of its own."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.asking_tools import A_FORM, add_asking
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call, step
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.revisions.revision import Asking


@client_scenario(
    "What belongs to one request is not used for another",
    brief=Brief(
        steps=(LIST_TOOLS, step("together", steps=[call("left"), call("right")])),
        capabilities=("elicitation",),
        answers={"elicitation": "accept"},
    ),
    exercises=("asking.rounds",),
    window=lambda revision: revision.asking is Asking.BY_RETRY,
)
async def drive(stage: ClientStage) -> None:
    add_asking(stage.host, "left", A_FORM, state="of the left")
    add_asking(stage.host, "right", A_FORM, state="of the right")
