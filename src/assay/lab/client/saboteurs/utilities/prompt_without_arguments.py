"""A prompt without what it requires."""

from __future__ import annotations

from assay.lab.client.altered import within, without
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a required argument of a prompt is left out", breaks="USE-02")
def change(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "prompts/get":
        return message
    return within(message, ("params", "arguments"), lambda fields: without(fields, "to"))
