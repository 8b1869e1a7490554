"""An offer that is not meant."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.client.evidence import FIRST
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a version is offered that the client does not speak", breaks="LIFE-07")
def change(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != FIRST:
        return message
    return within(message, ("params",), lambda params: {**params, "protocolVersion": "1999-01-01"})
