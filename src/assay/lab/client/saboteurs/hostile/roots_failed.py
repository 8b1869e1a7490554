"""Roots that it does not have are a failure."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message(
    "roots that are not supported are refused as a failure", breaks="RT-04", scenario="hostile.unknown"
)
def change(message: Json, client: ScriptedClient) -> Json:
    if "error" not in message:
        return message
    return {**message, "error": {**message["error"], "code": -32603}}
