"""A clock in place of a need."""

from __future__ import annotations

import asyncio

from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("a list is fetched whenever it is stale", breaks="CA-10", scenario="caching.stale-soon")
def change(message: Json, client: ScriptedClient) -> Json:
    if "tools" in message.get("result", {}) and not client.memory.setdefault("polls", False):
        client.memory["polls"] = True
        client.task(_poll(client))
    return message


async def _poll(client: ScriptedClient) -> None:
    for _ in range(5):
        await asyncio.sleep(0.06)
        await client.ask("tools/list", {}, timeout=1.0)
