"""Lines end in one way only."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.transport import HTTP_ONLY


@on_hearing("a stream whose lines end with CR is not understood", breaks="HOSTILE-09", transports=HTTP_ONLY)
def change(message: Json, client: ScriptedClient) -> Json | None:
    result = message.get("result")
    return None if isinstance(result, dict) and result.get("nextCursor") == "comments" else message
