"""Content of a type that came later goes to everybody."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply(
    "a tool answers with a resource link, which the agreed revision does not know",
    breaks="LIFE-13",
    window=lambda revision: "resource_link" not in revision.content,
)
def change(reply: Json, context: FaultContext) -> Json:
    if context.method == "tools/call" and "content" in reply.get("result", {}):
        reply["result"]["content"].append({"type": "resource_link", "uri": "file:///a", "name": "a"})
    return reply
