"""Resources are named by file names."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.revisions.registry import REVISIONS


@on_reply("URIs have no scheme", breaks="RS-18", window=lambda revision: revision is REVISIONS[-1])
def change(reply: Json, context: FaultContext) -> Json:
    for item in reply.get("result", {}).get("resources", ()):
        item["uri"] = item["uri"].rpartition("/")[2]
    return reply
