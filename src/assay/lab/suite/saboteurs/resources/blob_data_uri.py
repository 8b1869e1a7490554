"""Base64 is there, with the head of a data URI before it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.revisions.registry import REVISIONS


@on_reply("`blob` is a data URI", breaks="RS-14", window=lambda revision: revision is REVISIONS[-1])
def change(reply: Json, context: FaultContext) -> Json:
    for item in reply.get("result", {}).get("contents", ()):
        if "blob" in item:
            item["blob"] = f"data:image/png;base64,{item['blob']}"
    return reply
