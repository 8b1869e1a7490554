"""An answer that looks like the first call."""

from __future__ import annotations

from assay.lab.client.altered import is_call
from assay.lab.client.fixtures.retried_tools import ECHO
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message(
    "the call with the answer has the id of the first call", breaks="sep-2322-client-jsonrpc-id-different"
)
def change(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, ECHO):
        return message
    first = client.memory.setdefault("first", message["id"])
    return {**message, "id": first} if "inputResponses" in message["params"] else message
