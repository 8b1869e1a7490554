"""An integer that is none."""

from __future__ import annotations

from assay.lab.client.altered import with_form
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("the default of an integer is sent as text", breaks="client-elicitation-sep1034-integer-default")
def change(message: Json, client: ScriptedClient) -> Json:
    return with_form(message, age="30")
