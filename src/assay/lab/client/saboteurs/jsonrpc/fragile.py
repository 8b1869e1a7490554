"""A client that breaks down over a schema."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import Guest
from assay.lab.harness.scripted_client.failure import Failed


@misbehaving("an unknown dialect ends the client", breaks="JS-03")
async def behave(guest: Guest) -> None:
    await guest.open()
    await guest.play(guest.context["steps"][:-1])
    raise Failed("no validator for this dialect")
