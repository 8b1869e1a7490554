"""A clock in place of a need."""

from __future__ import annotations

import asyncio

from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import Guest


@on_hearing("a list is fetched whenever it is stale", breaks="CA-10", scenario="caching.stale-soon")
def change(message: Json, guest: Guest) -> Json:
    if "tools" in message.get("result", {}) and not guest.memory.setdefault("polls", False):
        guest.memory["polls"] = True
        guest.task(_poll(guest))
    return message


async def _poll(guest: Guest) -> None:
    for _ in range(5):
        await asyncio.sleep(0.06)
        await guest.ask("tools/list", {}, timeout=1.0)
