"""A server that speaks none of the versions that exist, and says so."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.scripted_server.answer import Answer, Refused
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.model.error import UNSUPPORTED_VERSION

TO_COME = "2999-01-01"


@client_scenario(
    "A version that is refused is not insisted on",
    brief=Brief(steps=(LIST_TOOLS,), may_fail=True),
    exercises=("stateless.refused-version",),
)
async def drive(stage: ClientStage) -> None:
    async def refuse(cycle: RequestCycle) -> Answer:
        told = {"supported": [TO_COME], "requested": cycle.meta.get(VERSION_KEY)}
        raise Refused(UNSUPPORTED_VERSION, "unsupported protocol version", told)

    for method in ("server/discover", "tools/list"):
        stage.host.on(method)(refuse)
    stage.host.add_tool({"name": "work"})
