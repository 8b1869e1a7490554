"""An exception without a text becomes an error without one."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply


@on_reply("`error.message` is null", breaks="BASE-08", window=newest_of_each_kind)
def change(reply: Json, context: FaultContext) -> Json:
    return {**reply, "error": {**reply["error"], "message": None}} if "error" in reply else reply
