"""What is never old enough."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("a list is kept longer than it may be", breaks="CA-09", scenario="caching.stale-soon")
def change(message: Json, client: ScriptedClient) -> Json:
    if "ttlMs" not in message.get("result", {}):
        return message
    return within(message, ("result",), lambda result: {**result, "ttlMs": 60_000})
