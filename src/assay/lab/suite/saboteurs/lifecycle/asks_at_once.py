"""Roots are asked for as soon as the client said hello."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a request comes before `notifications/initialized`", breaks="LIFE-06")
def change(reply: Json, context: FaultContext) -> list[Json]:
    if context.method == "initialize" and "result" in reply:
        return [reply, {"jsonrpc": "2.0", "id": "hasty", "method": "roots/list"}]
    return [reply]
