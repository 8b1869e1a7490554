"""A JSON file is given as JSON, not as the text that it is."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.revisions.registry import REVISIONS


@on_reply("`text` is an object", breaks="RS-19", window=lambda revision: revision is REVISIONS[-1])
def change(reply: Json, context: FaultContext) -> Json:
    for item in reply.get("result", {}).get("contents", ()):
        if "text" in item:
            item["text"] = {"lines": item["text"].splitlines()}
    return reply
