"""Messages do not say that they are JSON-RPC 2.0."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("`jsonrpc` is left out", breaks="BASE-01")
def change(reply: Json, context: FaultContext) -> Json:
    return {key: value for key, value in reply.items() if key != "jsonrpc"}
