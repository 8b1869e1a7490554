"""Nobody is told how long a resource may be kept."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Json, Turn, on_reply
from assay.lab.marketplace.cap_meta import RETENTION
from assay.lab.marketplace.cap_sabotaging import contents


@on_reply("what is read has no retention tier", breaks="CONF-CAP-03.resources.retention")
def change(reply: Json, turn: Turn) -> Json:
    for content in contents(reply, turn):
        content["_meta"].pop(RETENTION)
    return reply
