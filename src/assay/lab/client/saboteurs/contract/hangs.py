"""A client that does its work and never ends."""

from __future__ import annotations

import asyncio

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient


@misbehaving("it never ends", breaks="CLIENT-01", limit=0.5)
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await asyncio.Event().wait()
