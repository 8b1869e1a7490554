"""Errors are made where the request is not at hand any more."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an error has no id, though its request had one", breaks="BASE-09")
def change(reply: Json, context: FaultContext) -> Json:
    return {key: value for key, value in reply.items() if key != "id"} if "error" in reply else reply
