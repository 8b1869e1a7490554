"""A form that the user accepted is declined."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("what the user accepts is declined", breaks="client-elicitation-sep1034-general")
def change(message: Json, client: ScriptedClient) -> Json:
    return {**message, "result": {"action": "decline"}} if "result" in message else message
