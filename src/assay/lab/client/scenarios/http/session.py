"""A server that gives out a session, and a stream for what belongs to no request."""

from __future__ import annotations

from assay.lab.client.declaring import client_scenario
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY


@client_scenario(
    "A session is named in every request, and ended",
    brief=Brief(steps=(LIST_TOOLS, call("work"))),
    exercises=("http.session-named", "http.session-ended", "http.agreed-version"),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.sessions,
)
async def drive(stage: ClientStage) -> None:
    stage.host.sessions = stage.host.standalone = True
    stage.host.add_tool({"name": "work"})
