"""An error is only its text."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply


@on_reply("`error` is a string", breaks="BASE-08", window=newest_of_each_kind)
def change(reply: Json, context: FaultContext) -> Json:
    return {**reply, "error": reply["error"]["message"]} if "error" in reply else reply
