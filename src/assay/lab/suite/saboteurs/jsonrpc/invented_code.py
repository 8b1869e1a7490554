"""A code of one's own, from the range of the specification."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("an error has the code -32050", breaks="BASE-23")
def change(reply: Json, context: FaultContext) -> Json:
    return {**reply, "error": {**reply["error"], "code": -32050}} if "error" in reply else reply
