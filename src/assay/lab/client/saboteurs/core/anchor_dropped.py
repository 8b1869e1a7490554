"""A schema that lost a name."""

from __future__ import annotations

from assay.lab.client.altered import within, without
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("$anchor is dropped from a schema", breaks="sep-2106-client-anchor-keyword-preserved")
def change(message: Json, client: ScriptedClient) -> Json:
    path = ("params", "arguments", "schema", "$defs", "address")
    return within(message, path, lambda address: without(address, "$anchor"))
