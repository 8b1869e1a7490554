"""An unknown end ends the client."""

from __future__ import annotations

from assay.lab.client.altered import is_call
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed


@on_message(
    "the end of an unknown elicitation ends the client", breaks="EL-18", scenario="asking.unknown-completion"
)
def change(message: Json, client: ScriptedClient) -> Json:
    if is_call(message, "after"):
        raise Failed("the end of an unknown elicitation was announced")
    return message
