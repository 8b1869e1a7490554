"""A schema whose definitions are hollow."""

from __future__ import annotations

from assay.lab.client.altered import with_schema
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message(
    "definitions in a schema lose what is in them", breaks="json-schema-2020-12-client-$defs-preserved"
)
def change(message: Json, client: ScriptedClient) -> Json:
    return with_schema(message, lambda schema: {**schema, "$defs": {"address": {}}})
