"""The client is asked for its roots."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.asking_tools import THE_ROOTS, add_asking
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage

ROOT = {"uri": "file:///home/ada/project", "name": "Project"}


@client_scenario(
    "Roots are told",
    brief=Brief(steps=(LIST_TOOLS, call("asking")), capabilities=("roots",), answers={"roots": [ROOT]}),
    exercises=("asking.declared", "asking.roots"),
)
async def drive(stage: ClientStage) -> None:
    add_asking(stage.host, "asking", THE_ROOTS)
