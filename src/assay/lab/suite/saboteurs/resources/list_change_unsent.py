"""The list of resources changes silently."""

from __future__ import annotations

from assay.lab.harness.driver.list_change import LISTS
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import STDIO_ONLY
from assay.revisions.registry import HANDSHAKE, PER_REQUEST

ANNOUNCED = LISTS["resources"][0]


@on_reply(
    "the list of resources changes, and nothing says so",
    breaks="RS-02",
    transports=STDIO_ONLY,
    window=lambda revision: revision in (HANDSHAKE[-1], PER_REQUEST[-1]),
    silent=True,
)
def change(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == ANNOUNCED else reply
