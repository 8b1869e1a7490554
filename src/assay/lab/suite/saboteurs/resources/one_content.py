"""The contents of one resource are thought to be one object."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.revisions.registry import REVISIONS


@on_reply("`contents` is no list", breaks="RS-19", window=lambda revision: revision is REVISIONS[-1])
def change(reply: Json, context: FaultContext) -> Json:
    if contents := reply.get("result", {}).get("contents"):
        reply["result"]["contents"] = contents[0]
    return reply
