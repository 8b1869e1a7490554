"""A schema in quotes."""

from __future__ import annotations

import json

from assay.lab.client.altered import is_call, within
from assay.lab.client.fixtures.rich_schema import ECHO
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a schema is given as text", breaks="json-schema-2020-12-client-echo-completed")
def change(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, ECHO):
        return message
    text = json.dumps(message["params"]["arguments"]["schema"])
    return within(message, ("params", "arguments"), lambda given: {"schema": text})
