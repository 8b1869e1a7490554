"""What is never old."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.harness.client_saboteur import on_hearing
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_hearing("a list that is stale at once is kept", breaks="CA-08", scenario="caching.stale-at-once")
def change(message: Json, guest: Guest) -> Json:
    if "ttlMs" not in message.get("result", {}):
        return message
    return within(message, ("result",), lambda result: {**result, "ttlMs": 60_000})
