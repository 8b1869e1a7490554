"""A code that meant something once."""

from __future__ import annotations

from assay.lab.client.checks.jsonrpc.own_codes import OWN
from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("an error with a code of somebody's own leads to a new list of tools", breaks="BASE-22")
def change(message: Json, client: ScriptedClient) -> Json:
    if message.get("error", {}).get("code") in OWN:
        client.task(client.ask("tools/list", {}, timeout=1.0))
    return message
