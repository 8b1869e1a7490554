"""Base64 as mail has it: a line break after every 76 characters."""

from __future__ import annotations

from textwrap import wrap

from assay.lab.harness.saboteur import Json, Turn, on_reply


@on_reply("`blob` is broken into lines", breaks="RS-14")
def change(reply: Json, turn: Turn) -> Json:
    for item in reply.get("result", {}).get("contents", ()):
        if "blob" in item:
            item["blob"] = "\n".join(wrap(item["blob"], 76)) + "\n"
    return reply
