"""Tools are looked at only."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.brief import LIST_TOOLS


@misbehaving("no tool is ever called", breaks="tool-add-numbers")
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play([LIST_TOOLS])
