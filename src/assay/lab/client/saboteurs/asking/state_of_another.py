"""The state of one request is sent with another."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_message("the state of one request goes with another", breaks="MR-19", scenario="asking.rounds-at-once")
def change(message: Json, guest: Guest) -> Json:
    if "requestState" not in message.get("params", {}):
        return message
    return {**message, "params": {**message["params"], "requestState": "of the left"}}
