"""A server forgets its session between two calls."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY


@client_scenario(
    "A session that is not known any more is begun anew",
    brief=Brief(steps=(LIST_TOOLS, call("work", number=1), call("work", number=2)), may_fail=True),
    exercises=("http.session-lost",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
async def drive(stage: ClientStage) -> None:
    async def work(cycle: RequestCycle) -> Answer:
        if not cycle.host.memory.setdefault("forgot", False):
            cycle.host.memory["forgot"] = True
            cycle.host.session = "another"
        return {"content": [{"type": "text", "text": "done"}]}

    stage.host.sessions = True
    stage.host.add_tool({"name": "work"}, work)
