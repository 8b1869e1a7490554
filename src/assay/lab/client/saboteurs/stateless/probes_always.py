"""A client that never learns."""

from __future__ import annotations

from typing import Any

from assay.lab.client.checks.stateless.probe import PROBE
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("the server is probed before each request", breaks="VER-09", scenario="tools_call")
def change(message: Json, client: ScriptedClient) -> Any:
    if not message.get("method", "").startswith("tools/"):
        return message
    params = {"_meta": message["params"]["_meta"]}
    return [message, {"jsonrpc": "2.0", "id": f"probe-{message['id']}", "method": PROBE, "params": params}]
