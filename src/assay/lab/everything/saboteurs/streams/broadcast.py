"""Whatever is said is said on every stream."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a stream also carries the answer to another request", breaks="server-sse-streams-functional")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if context.method != "tools/list" or not context.streams:
        return [reply]
    other = {"jsonrpc": "2.0", "id": reply["id"] + 1, "result": reply.get("result")}
    return [reply, other]
