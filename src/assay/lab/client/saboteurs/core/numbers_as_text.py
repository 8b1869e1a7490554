"""Arguments of another type."""

from __future__ import annotations

from assay.lab.client.altered import is_call, within
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("numbers are given as text", breaks="tool-add-numbers")
def change(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, "add_numbers"):
        return message
    given = {key: str(value) for key, value in message["params"]["arguments"].items()}
    return within(message, ("params",), lambda params: {**params, "arguments": given})
