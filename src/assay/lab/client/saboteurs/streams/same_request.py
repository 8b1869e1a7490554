"""The same request once more."""

from __future__ import annotations

from assay.lab.client.altered import is_call
from assay.lab.client.checks.streams.reissued import FRAGILE
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.transport import HTTP_ONLY


@on_message("a broken request is made again under its old id", breaks="HTTP-22", transports=HTTP_ONLY)
def change(message: Json, client: ScriptedClient) -> Json:
    return {**message, "id": "fragile"} if is_call(message, FRAGILE) else message
