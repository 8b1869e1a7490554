"""A response breaks off before the answer, in a revision where nothing can be resumed."""

from __future__ import annotations

from assay.lab.client.checks.streams.reissued import FRAGILE
from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.answer import SILENCE, Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call, tried
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

PATIENCE = 3.0


@client_scenario(
    "A request whose response broke off is made again under a new id",
    # Who does not try again by itself is made to, by a second step.
    brief=Brief(steps=(LIST_TOOLS, tried({**call(FRAGILE), "timeout": PATIENCE}), call(FRAGILE))),
    exercises=("streams.reissued",),
    transports=HTTP_ONLY,
    window=lambda revision: not revision.http.resumable,
)
async def drive(stage: ClientStage) -> None:
    async def break_once(cycle: RequestCycle) -> Answer:
        if cycle.host.memory.setdefault("broke", False):
            return {"content": [{"type": "text", "text": "done"}]}
        cycle.host.memory["broke"] = True
        await cycle.channel.raw(b": it will break\n\n")
        cycle.channel.cut()
        return SILENCE

    stage.host.add_tool({"name": FRAGILE}, break_once)
