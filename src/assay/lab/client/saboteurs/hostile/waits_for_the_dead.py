"""Half an answer is waited for."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed


@misbehaving(
    "an answer that cannot come is waited for", breaks="HOSTILE-17", scenario="hostile.never-up", limit=0.5
)
async def behave(client: ScriptedClient) -> None:
    with suppress(Failed):
        await client.open()
    await asyncio.Event().wait()
