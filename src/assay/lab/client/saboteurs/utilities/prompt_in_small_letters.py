"""Names in small letters."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("the name of a prompt is written in small letters", breaks="USE-02")
def change(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "prompts/get":
        return message
    return within(message, ("params",), lambda fields: {**fields, "name": fields["name"].lower()})
