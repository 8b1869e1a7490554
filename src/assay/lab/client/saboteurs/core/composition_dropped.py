"""A schema that lost its alternatives."""

from __future__ import annotations

from assay.lab.client.altered import with_schema, without
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("allOf is dropped from a schema", breaks="sep-2106-client-composition-keywords-preserved")
def change(message: Json, client: ScriptedClient) -> Json:
    return with_schema(message, lambda schema: without(schema, "allOf"))
