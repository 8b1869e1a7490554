"""An answer that comes although its request was cancelled."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER, ENDLESS
from assay.lab.harness.scripted_server.answer import DONE, Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call, tried
from assay.lab.harness.scripted_server.request_cycle import RequestCycle, encode
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import ONE_CHANNEL

LIMIT = 0.4


@client_scenario(
    "An answer that crosses its cancellation does no harm",
    brief=Brief(steps=(LIST_TOOLS, tried({**call(ENDLESS), "timeout": LIMIT}), call(AFTER))),
    exercises=("utilities.races",),
    transports=ONE_CHANNEL,
)
async def drive(stage: ClientStage) -> None:
    host = stage.host

    async def wait(cycle: RequestCycle) -> Answer:
        host.memory["waiting"] = cycle
        await cycle.stay()
        return DONE

    @host.on("notifications/cancelled")
    async def answer_all_the_same(cycle: RequestCycle) -> Answer:
        asked: RequestCycle | None = host.memory.get("waiting")
        if asked is None:
            return DONE  # it cancels something else
        late = {"jsonrpc": "2.0", "id": asked.id, "result": host.shaped(asked.method, {"content": []})}
        await asked.channel.send(encode(late))
        return DONE

    host.add_tool({"name": ENDLESS}, wait)
    host.add_tool({"name": AFTER})
