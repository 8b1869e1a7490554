"""Tools whose arguments have to be repeated in headers: safe ones, unsafe ones, one that is null."""

from __future__ import annotations

from assay.lab.client.declaring import official_scenario
from assay.lab.client.fixtures.marked_tools import CALLS, TOOLS
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, step
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    "http-custom-headers",
    "Arguments that a tool wants in headers are repeated there",
    brief=Brief(steps=(LIST_TOOLS, step("context_calls")), path=""),
)
async def drive(stage: ClientStage) -> None:
    for tool in TOOLS.values():
        stage.host.add_tool(tool)
    calls = [{"name": name, "arguments": arguments} for name, arguments in CALLS.items()]
    stage.context = {**stage.context, "toolCalls": calls}
