"""The handshake, and nothing much after it."""

from __future__ import annotations

from assay.lab.client.declaring import CLIENTS, official_scenario
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief
from assay.lab.harness.scripted_server.stage import ClientStage


@official_scenario(
    "initialize",
    "The client opens a conversation",
    brief=Brief(steps=(LIST_TOOLS,), path=""),
    transports=CLIENTS,
)
async def drive(stage: ClientStage) -> None:
    """The healthy host is all that it takes: it lists no tools, and answers with the revision in hand."""
    stage.host.streams = False
