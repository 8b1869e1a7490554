"""A level is acknowledged, and the default is kept."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


@on_request("messages below the level are sent", breaks="logging-set-level")
def change(message: Json, context: FaultContext) -> Json:
    if message.get("method") == "logging/setLevel":
        params_of(message)["level"] = "debug"
    return message
