"""A server forgets its session between two calls."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.request_cycle import Turn
from assay.lab.harness.scripted_server.stage import Hosting
from assay.lab.harness.transport import HTTP_ONLY


@client_scenario(
    "A session that is not known any more is begun anew",
    brief=Brief(steps=(LIST_TOOLS, call("work", number=1), call("work", number=2)), may_fail=True),
    exercises=("http.session-lost",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
async def drive(stage: Hosting) -> None:
    async def work(turn: Turn) -> Answer:
        if not turn.host.memory.setdefault("forgot", False):
            turn.host.memory["forgot"] = True
            turn.host.session = "another"
        return {"content": [{"type": "text", "text": "done"}]}

    stage.host.sessions = True
    stage.host.add_tool({"name": "work"}, work)
