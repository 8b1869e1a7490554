"""A cursor is tidied up before it is sent back."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a cursor is changed before it is sent back", breaks="PAG-06")
def change(message: Json, client: ScriptedClient) -> Json:
    params = message.get("params")
    if not isinstance(params, dict) or not isinstance(params.get("cursor"), str):
        return message
    return {**message, "params": {**params, "cursor": params["cursor"].strip("=") + "0"}}
