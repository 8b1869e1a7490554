"""A failure has a result as well, empty."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an error has a null result beside it", breaks="BASE-07")
def change(reply: Json, context: FaultContext) -> Json:
    return {**reply, "result": None} if "error" in reply else reply
