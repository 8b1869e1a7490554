"""Tools are looked at only."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import Guest
from assay.lab.harness.scripted_server.brief import LIST_TOOLS


@misbehaving("no tool is ever called", breaks="tool-add-numbers")
async def behave(guest: Guest) -> None:
    await guest.open()
    await guest.play([LIST_TOOLS])
