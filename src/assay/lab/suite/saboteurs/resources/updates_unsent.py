"""A subscription is remembered, and nothing ever comes of it."""

from __future__ import annotations

from assay.lab.harness.driver.list_change import UPDATED
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import STDIO_ONLY
from assay.revisions.registry import HANDSHAKE


@on_reply(
    "a resource changes, and no update follows",
    breaks="RS-03",
    scenario="resources.changes",
    transports=STDIO_ONLY,
    window=lambda revision: revision is HANDSHAKE[-1],
    silent=True,
)
def change(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == UPDATED else reply
