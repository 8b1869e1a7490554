"""A client that takes every word for an error."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.transport import STDIO_ONLY


@on_hearing("output on standard error ends the client", breaks="STD-04", transports=STDIO_ONLY)
def change(message: Json, client: ScriptedClient) -> Json | None:
    if "all is well" not in str(message.get("result")):
        return message
    return {"id": message["id"], "error": {"code": -32603, "message": "the server wrote to standard error"}}
