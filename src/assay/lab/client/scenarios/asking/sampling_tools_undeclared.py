"""A model is given tools by a server that was not told that it can use them."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.asking_tools import a_prompt, add_asking
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.revisions.revision import Asking


@client_scenario(
    "Tools for a model that cannot use them are refused",
    brief=Brief(
        steps=(LIST_TOOLS, call("asking")),
        capabilities=("sampling",),
        answers={"sampling": {"text": "hello"}},
    ),
    exercises=("asking.refused",),
    window=lambda revision: revision.sampling_tools and revision.asking is Asking.BY_REQUEST,
)
async def drive(stage: ClientStage) -> None:
    tools = [{"name": "dice", "description": "Throw a die", "inputSchema": {"type": "object"}}]
    add_asking(stage.host, "asking", a_prompt(tools=tools))
