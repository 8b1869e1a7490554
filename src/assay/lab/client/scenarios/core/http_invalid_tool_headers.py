"""A list of tools, most of which a client has to leave out because of their marks."""

from __future__ import annotations

from assay.lab.client.declaring import official_scenario
from assay.lab.client.fixtures.ill_marked_tools import CALLS, DEFINITIONS
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, step
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    "http-invalid-tool-headers",
    "Tools with marks that no client may accept are left out, the others are not",
    brief=Brief(steps=(LIST_TOOLS, step("call_listed", arguments=CALLS)), path="", may_fail=True),
)
async def drive(stage: ClientStage) -> None:
    for tool in DEFINITIONS:
        stage.host.add_tool(tool)
