"""A schema of no dialect."""

from __future__ import annotations

from assay.lab.client.altered import with_schema, without
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("the dialect of a schema is dropped", breaks="json-schema-2020-12-client-$schema-preserved")
def change(message: Json, client: ScriptedClient) -> Json:
    return with_schema(message, lambda schema: without(schema, "$schema"))
