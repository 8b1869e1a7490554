"""One type for all messages: notifications have an id too, and it is null."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a notification of the server has a null id", breaks="BASE-11", scenario="jsonrpc.own-words")
def change(reply: Json, context: FaultContext) -> list[Json]:
    changed = {"jsonrpc": "2.0", "id": None, "method": "notifications/tools/list_changed"}
    return [changed, reply] if context.method == "tools/list" else [reply]
