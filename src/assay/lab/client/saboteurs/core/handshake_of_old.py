"""A handshake for a revision that nobody asked for."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.revisions.registry import HANDSHAKE


@on_message("the handshake offers the oldest revision", breaks="mcp-client-initialization")
def change(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "initialize":
        return message
    return within(message, ("params",), lambda params: {**params, "protocolVersion": HANDSHAKE[0].date})
