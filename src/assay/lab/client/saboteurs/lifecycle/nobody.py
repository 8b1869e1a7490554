"""A client that does not say who it is."""

from __future__ import annotations

from assay.lab.client.altered import within, without
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("`initialize` lacks `clientInfo`", breaks="LIFE-02", scenario="tools_call")
def change(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("params",), lambda params: without(params, "clientInfo"))
