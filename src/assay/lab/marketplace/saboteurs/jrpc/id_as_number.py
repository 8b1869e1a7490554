"""Ids that look like numbers become numbers."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply


@on_reply("an id of digits comes back as a number", breaks="CONF-JRPC-02.id-echo", window=newest_of_each_kind)
def change(reply: Json, context: FaultContext) -> Json:
    name = reply.get("id")
    return {**reply, "id": int(name)} if isinstance(name, str) and name.isdecimal() else reply
