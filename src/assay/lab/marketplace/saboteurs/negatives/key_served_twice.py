"""A message that says a key twice is two messages."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a request with two methods is answered twice", breaks="CONF-JRPC-03.duplicate-keys")
def change(reply: Json, context: FaultContext) -> list[Json]:
    return [reply, reply] if reply.get("id") == "twice" else [reply]
