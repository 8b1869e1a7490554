"""The host gives the client whichever version it offers."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.fixtures.answered_version import answer_version
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage


@client_scenario(
    "A client speaks the version that it offers",
    brief=Brief(steps=(LIST_TOOLS, call("work"))),
    exercises=("lifecycle.own-version",),
)
async def drive(stage: ClientStage) -> None:
    def offered(cycle: RequestCycle) -> str:
        given = cycle.params.get("protocolVersion")
        return given if isinstance(given, str) else cycle.host.revision.date

    answer_version(stage, offered)
