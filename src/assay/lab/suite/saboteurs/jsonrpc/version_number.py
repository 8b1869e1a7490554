"""The version of JSON-RPC is a number."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply


@on_reply("`jsonrpc` is the number 2.0", breaks="BASE-01", window=newest_of_each_kind)
def change(reply: Json, context: FaultContext) -> Json:
    return {**reply, "jsonrpc": 2.0}
