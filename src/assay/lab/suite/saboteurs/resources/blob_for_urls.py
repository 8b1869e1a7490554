"""Base64 in the alphabet that is safe in URLs."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.revisions.registry import REVISIONS


@on_reply("`blob` is base64url", breaks="RS-14", window=lambda revision: revision is REVISIONS[-1])
def change(reply: Json, context: FaultContext) -> Json:
    for item in reply.get("result", {}).get("contents", ()):
        if "blob" in item:
            item["blob"] = item["blob"].replace("+", "-").replace("/", "_")
    return reply
