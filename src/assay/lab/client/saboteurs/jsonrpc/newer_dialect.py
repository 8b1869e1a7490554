"""A client that knows the usual dialect only."""

from __future__ import annotations

from assay.lab.client.checks.jsonrpc.dialects import NAMED
from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("rules of an older dialect are left out of a schema", breaks="JS-02")
def change(message: Json, client: ScriptedClient) -> Json:
    for tool in message.get("result", {}).get("tools", []):
        if tool["name"] == NAMED:
            row = tool["outputSchema"]["properties"]["row"]
            row["items"] = row.pop("additionalItems")
    return message
