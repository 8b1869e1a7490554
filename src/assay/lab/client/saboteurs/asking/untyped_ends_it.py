"""A result that does not say what it is ends the client."""

from __future__ import annotations

from assay.lab.client.altered import is_call
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed


@on_message("a result without a type ends the client", breaks="BASE-18", scenario="asking.untyped-result")
def change(message: Json, client: ScriptedClient) -> Json:
    if is_call(message, "after"):
        raise Failed("the result before had no type")
    return message
