"""The client's model is asked, and given tools that it must not use, and then must."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.asking_tools import a_prompt, add_asking
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage


@client_scenario(
    "A model uses tools as it is told to",
    brief=Brief(
        steps=(LIST_TOOLS, call("without"), call("with")),
        capabilities=("sampling", "sampling.tools"),
        answers={"sampling": {"text": "hello"}},
    ),
    exercises=("asking.declared", "asking.model"),
    window=lambda revision: revision.sampling_tools,
)
async def drive(stage: ClientStage) -> None:
    tools = [{"name": "dice", "description": "Throw a die", "inputSchema": {"type": "object"}}]
    add_asking(stage.host, "without", a_prompt(tools=tools, toolChoice={"mode": "none"}))
    add_asking(stage.host, "with", a_prompt(tools=tools, toolChoice={"mode": "required"}))
