"""The client's model is asked."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.asking_tools import a_prompt, add_asking
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage


@client_scenario(
    "A model is asked, and keeps to the length",
    brief=Brief(
        steps=(LIST_TOOLS, call("asking")),
        capabilities=("sampling",),
        answers={"sampling": {"text": "hello"}},
    ),
    exercises=("asking.declared", "asking.model"),
)
async def drive(stage: ClientStage) -> None:
    add_asking(stage.host, "asking", a_prompt())
