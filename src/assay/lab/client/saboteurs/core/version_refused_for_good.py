"""A version that was refused is the end."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.model.error import MISSING_CAPABILITY, UNSUPPORTED_VERSION


@on_hearing("nothing is tried after a version was refused", breaks="sep-2575-client-retry-supported-version")
def change(message: Json, client: ScriptedClient) -> Json:
    if message.get("error", {}).get("code") != UNSUPPORTED_VERSION:
        return message
    return {**message, "error": {"code": MISSING_CAPABILITY, "message": "not understood"}}
