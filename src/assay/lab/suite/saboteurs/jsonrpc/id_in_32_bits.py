"""Ids are kept in 32 bits."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply


@on_reply("a large id overflows", breaks="BASE-06", window=newest_of_each_kind, scenario="jsonrpc.ids")
def change(reply: Json, context: FaultContext) -> Json:
    number = reply.get("id")
    return {**reply, "id": (number + 2**31) % 2**32 - 2**31} if isinstance(number, int) else reply
