"""A client that does not read errors."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.transport import HTTP_ONLY


@on_hearing("an error of a revision without a handshake leads to one", breaks="VER-15", transports=HTTP_ONLY)
def change(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("error",), lambda error: {**error, "code": -32601})
