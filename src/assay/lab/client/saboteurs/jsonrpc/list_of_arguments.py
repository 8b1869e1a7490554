"""Arguments without names."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import BOTH, Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message(
    "the arguments of a call are a list", breaks="SHAPE-01", scenario="framing.gives-up", transports=BOTH
)
def change(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "tools/call":
        return message
    return within(
        message, ("params",), lambda params: {**params, "arguments": [*params["arguments"].values()]}
    )
