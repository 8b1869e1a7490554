"""Ids come back as text."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a numeric id comes back as a string", breaks="CONF-JRPC-02.id-echo")
def change(reply: Json, context: FaultContext) -> Json:
    return {**reply, "id": str(reply["id"])} if isinstance(reply.get("id"), int) else reply
