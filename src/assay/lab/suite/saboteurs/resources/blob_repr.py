"""Bytes are formatted, not encoded."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`blob` is the notation of bytes in a programming language", breaks="RS-14")
def change(reply: Json, context: FaultContext) -> Json:
    for item in reply.get("result", {}).get("contents", ()):
        if "blob" in item:
            item["blob"] = repr(item["blob"].encode())
    return reply
