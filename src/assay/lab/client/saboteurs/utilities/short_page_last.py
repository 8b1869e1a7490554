"""A page with fewer items than the one before is taken for the last."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("a page with less on it than another is taken for the last", breaks="PAG-01")
def change(message: Json, client: ScriptedClient) -> Json:
    result = message.get("result")
    if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
        return message
    tools = result["tools"]
    most = client.memory.setdefault("most", len(tools))
    client.memory["most"] = max(most, len(tools))
    if len(tools) >= most:
        return message
    return {**message, "result": {key: value for key, value in result.items() if key != "nextCursor"}}
