"""One answer for all."""

from __future__ import annotations

from assay.lab.client.checks.caching.reuse import OTHER
from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import Guest


@misbehaving("the answer of one resource is used for another", breaks="CA-06")
async def behave(guest: Guest) -> None:
    await guest.open()
    # Whoever has an answer already does not ask.
    await guest.play([step for step in guest.context["steps"] if step.get("uri") != OTHER])
