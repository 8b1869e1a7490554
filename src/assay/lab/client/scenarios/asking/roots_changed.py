"""The client's roots change."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.asking_tools import THE_ROOTS, add_asking
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call, step
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.revisions.revision import Asking

ROOT = {"uri": "file:///home/ada/project", "name": "Project"}
OTHER = {"uri": "file:///home/ada/other", "name": "Other"}


@client_scenario(
    "A change of roots is announced",
    brief=Brief(
        steps=(LIST_TOOLS, step("change_roots", roots=[OTHER]), call("asking")),
        capabilities=("roots", "roots.listChanged"),
        answers={"roots": [ROOT]},
    ),
    exercises=("asking.roots-changed",),
    window=lambda revision: revision.asking is Asking.BY_REQUEST,
)
async def drive(stage: ClientStage) -> None:
    stage.host.standalone = True
    add_asking(stage.host, "asking", THE_ROOTS)
