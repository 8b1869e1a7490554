"""A cancellation of what it never was asked ends the client."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import Guest
from assay.lab.harness.scripted_client.failure import Failed


@misbehaving("a cancellation of nothing ends the client", breaks="CAN-09", scenario="hostile.unknown")
async def behave(guest: Guest) -> None:
    await guest.open()
    await guest.play(guest.context["steps"][:2])
    raise Failed("there is no such request to cancel")
