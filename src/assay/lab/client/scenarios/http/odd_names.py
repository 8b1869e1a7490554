"""Names that no header can hold as they are."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.brief import Brief, step
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

NAME = "Grüße aus Łódź"


@client_scenario(
    "A name that is not ASCII is encoded in its header",
    brief=Brief(steps=(step("list_prompts"), step("get_prompt", name=NAME, arguments={}))),
    exercises=("http.mirrored",),
    transports=HTTP_ONLY,
)
async def drive(stage: ClientStage) -> None:
    stage.host.add_prompt(NAME)
