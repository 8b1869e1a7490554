"""Whoever comes is hung up on before anything is said."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import FIRST
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage


@client_scenario(
    "A server that hangs up at once leaves nobody waiting",
    brief=Brief(steps=(LIST_TOOLS,), may_fail=True),
    exercises=("hostile.hung-up",),
)
async def drive(stage: ClientStage) -> None:
    async def hang_up(cycle: RequestCycle) -> Answer:
        cycle.channel.cut()
        return DONE

    for method in (FIRST, "server/discover", "tools/list"):
        stage.host.on(method)(hang_up)
