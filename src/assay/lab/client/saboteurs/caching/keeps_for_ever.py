"""What is never old."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("a list that is stale at once is kept", breaks="CA-08", scenario="caching.stale-at-once")
def change(message: Json, client: ScriptedClient) -> Json:
    if "ttlMs" not in message.get("result", {}):
        return message
    return within(message, ("result",), lambda result: {**result, "ttlMs": 60_000})
