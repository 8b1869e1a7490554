"""A server forgets its session between two pages of a list."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.client.evidence import AFTER
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call, tried
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY


@client_scenario(
    "A cursor ends with its session",
    # Who does not begin anew by itself is made to, by a second step.
    brief=Brief(steps=(tried(LIST_TOOLS), tried(LIST_TOOLS), call(AFTER)), may_fail=True),
    exercises=("hostile.old-cursors",),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
async def drive(stage: ClientStage) -> None:
    host = stage.host
    host.sessions = True
    host.add_tool({"name": AFTER})

    @host.on("tools/list")
    async def page(cycle: RequestCycle) -> Answer:
        if "cursor" in cycle.params:
            return {"tools": host.items["tools"]}
        cursor = f"of-{host.session}"
        if not host.memory.setdefault("forgot", False):
            host.memory["forgot"] = True
            host.session = "another"
        return {"tools": [], "nextCursor": cursor}
