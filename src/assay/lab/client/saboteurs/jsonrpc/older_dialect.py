"""A client that knows an older dialect only."""

from __future__ import annotations

from assay.lab.client.checks.jsonrpc.dialects import USUAL
from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("a schema that names no dialect is read in an older one", breaks="JS-01")
def change(message: Json, client: ScriptedClient) -> Json:
    for tool in message.get("result", {}).get("tools", []):
        if tool["name"] == USUAL:
            tool["outputSchema"]["$schema"] = "http://json-schema.org/draft-07/schema#"
    return message
