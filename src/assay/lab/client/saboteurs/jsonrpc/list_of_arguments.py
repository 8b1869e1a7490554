"""Arguments without names."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import BOTH, Json


@on_message(
    "the arguments of a call are a list", breaks="SHAPE-01", scenario="framing.gives-up", transports=BOTH
)
def change(message: Json, guest: Guest) -> Json:
    if message.get("method") != "tools/call":
        return message
    return within(
        message, ("params",), lambda params: {**params, "arguments": [*params["arguments"].values()]}
    )
