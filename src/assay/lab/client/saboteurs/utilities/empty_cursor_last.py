"""An empty cursor is taken for none."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("an empty cursor is taken for the end of the list", breaks="PAG-08")
def change(message: Json, client: ScriptedClient) -> Json:
    result = message.get("result")
    if isinstance(result, dict) and result.get("nextCursor") == "":
        return {**message, "result": {key: value for key, value in result.items() if key != "nextCursor"}}
    return message
