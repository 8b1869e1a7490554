"""No greeting."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import Guest


@misbehaving("requests are sent without a handshake", breaks="LIFE-01", scenario="tools_call")
async def behave(guest: Guest) -> None:
    await guest.carrier.open()
    await guest.play(guest.context["steps"])
