"""A code from the range that is closed."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an error has the code -32001", breaks="BASE-21")
def change(reply: Json, context: FaultContext) -> Json:
    return {**reply, "error": {**reply["error"], "code": -32001}} if "error" in reply else reply
