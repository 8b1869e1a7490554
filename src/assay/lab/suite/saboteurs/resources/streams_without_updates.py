"""A listen stream is opened, and updates of resources never come on it."""

from __future__ import annotations

from assay.lab.harness.driver.list_change import UPDATED
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import STDIO_ONLY


@on_reply(
    "a resource changes, and no listener hears of it",
    breaks="RS-04",
    scenario="stateless.changes",
    transports=STDIO_ONLY,
    silent=True,
)
def change(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("method") == UPDATED else reply
