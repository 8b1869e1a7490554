"""No greeting."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient


@misbehaving("requests are sent without a handshake", breaks="LIFE-01", scenario="tools_call")
async def behave(client: ScriptedClient) -> None:
    await client.carrier.open()
    await client.play(client.context["steps"])
