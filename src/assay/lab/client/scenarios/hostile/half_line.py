"""The server writes half of an answer, and ends."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.client.fixtures.hostility import WELL, answer_to, trying
from assay.lab.harness.scripted_server.answer import SILENCE, Answer
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import STDIO_ONLY


@client_scenario(
    "A server that ends in the middle of a line leaves nobody waiting",
    brief=trying(("half_line",)),
    exercises=("hostile.hung-up",),
    transports=STDIO_ONLY,
)
async def drive(stage: ClientStage) -> None:
    async def half(cycle: RequestCycle) -> Answer:
        answer = answer_to(cycle, WELL)
        await cycle.channel.raw(answer[: len(answer) // 2])
        cycle.channel.cut()
        return SILENCE

    stage.host.add_tool({"name": "half_line"}, half)
    stage.host.add_tool({"name": AFTER})
