"""Cursors are not looked at."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request, params_of


@on_request("an invalid cursor gives the first page", breaks="PAG-03")
def change(message: Json, context: FaultContext) -> Json:
    if str(message.get("method")).endswith("/list"):
        params_of(message).pop("cursor", None)
    return message
