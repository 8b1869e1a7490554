"""The list of resources changes silently."""

from __future__ import annotations

from assay.lab.harness.changing import LISTS
from assay.lab.harness.saboteur import Json, Turn, on_reply
from assay.lab.harness.transport import STDIO_ONLY

ANNOUNCED = LISTS["resources"][0]


@on_reply(
    "the list of resources changes, and nothing says so", breaks="RS-02", transports=STDIO_ONLY, silent=True
)
def change(reply: Json, turn: Turn) -> Json | None:
    return None if reply.get("method") == ANNOUNCED else reply
