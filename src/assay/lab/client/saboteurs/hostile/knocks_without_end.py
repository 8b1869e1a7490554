"""A client that does not believe that nobody is there."""

from __future__ import annotations

from contextlib import suppress

from assay.lab.client.checks.hostile.hung_up import MOST
from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed
from assay.lab.harness.transport import GUARDED


@misbehaving(
    "a server that hangs up is called over and over",
    breaks="HOSTILE-07",
    scenario="hostile.never-up",
    transports=GUARDED,
)
async def behave(client: ScriptedClient) -> None:
    for _ in range(MOST + 1):
        with suppress(Failed):
            await client.open()
