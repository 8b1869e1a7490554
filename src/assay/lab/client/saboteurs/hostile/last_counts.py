"""Of two answers, the last counts."""

from __future__ import annotations

from assay.lab.client.checks.hostile.stray_answers import TRUE
from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("the second answer to a request replaces the first", breaks="HOSTILE-02")
def change(message: Json, client: ScriptedClient) -> Json | None:
    result = message.get("result")
    if not isinstance(result, dict) or "tools" not in result:
        return message
    return None if TRUE in str(result) else message
