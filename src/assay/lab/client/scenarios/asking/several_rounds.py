"""Two questions at once, with a state; and then one more, without."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.asking_tools import A_FORM, THE_ROOTS, add_asking
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.revisions.revision import Asking

ROOT = {"uri": "file:///home/ada/project", "name": "Project"}
STATE = '{"step": 1,  "note": "ü \u2028 =="} '


@client_scenario(
    "Questions are answered together, and the state comes back",
    brief=Brief(
        steps=(LIST_TOOLS, call("asking"), call("asking_again")),
        capabilities=("elicitation", "roots"),
        answers={"elicitation": "accept", "roots": [ROOT]},
    ),
    exercises=("asking.rounds",),
    window=lambda revision: revision.asking is Asking.BY_RETRY,
)
async def drive(stage: ClientStage) -> None:
    add_asking(stage.host, "asking", A_FORM, THE_ROOTS, state=STATE)
    add_asking(stage.host, "asking_again", A_FORM)
