"""A request of the server has no id: nobody would answer it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a request of the server has no id", breaks="BASE-02", scenario="jsonrpc.own-words")
def change(reply: Json, context: FaultContext) -> list[Json]:
    return [{"jsonrpc": "2.0", "method": "roots/list"}, reply] if context.method == "tools/list" else [reply]
