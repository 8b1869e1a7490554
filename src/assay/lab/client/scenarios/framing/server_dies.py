"""The server ends in the middle of a call, once."""

from __future__ import annotations

from assay.lab.client.checks.framing.restart import DIED
from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.answer import SILENCE, Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call, step, tried
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import STDIO_ONLY

LISTENING = step("listen", notifications={"toolsListChanged": True})


@client_scenario(
    "A server that died is started again, and listened to as before",
    brief=Brief(steps=(LIST_TOOLS, LISTENING, tried(call("fatal")), call(AFTER)), may_fail=True),
    exercises=("framing.restart",),
    transports=STDIO_ONLY,
)
async def drive(stage: ClientStage) -> None:
    async def die(cycle: RequestCycle) -> Answer:
        if cycle.host.memory.setdefault(DIED, False):
            return {"content": [{"type": "text", "text": "not this time"}]}
        cycle.host.memory[DIED] = True
        cycle.host.mark(DIED)
        cycle.channel.cut()
        return SILENCE

    stage.host.add_tool({"name": "fatal"}, die)
    stage.host.add_tool({"name": AFTER})
    stage.host.capabilities["tools"]["listChanged"] = True
