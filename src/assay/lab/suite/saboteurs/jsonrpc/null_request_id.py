"""The server's own requests have the id null."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a request of the server has the id null", breaks="BASE-03", scenario="jsonrpc.own-words")
def change(reply: Json, context: FaultContext) -> list[Json]:
    return [{"jsonrpc": "2.0", "id": None, "method": "ping"}, reply] if "result" in reply else [reply]
