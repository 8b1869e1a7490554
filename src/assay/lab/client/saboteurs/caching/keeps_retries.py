"""An answer that was for once."""

from __future__ import annotations

from assay.lab.client.checks.caching.reuse import ASKED
from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient


@misbehaving("the result of a retry is kept", breaks="CA-07")
async def behave(client: ScriptedClient) -> None:
    await client.open()
    steps = client.context["steps"]
    # Whoever has an answer already does not ask.
    await client.play(
        [
            step
            for place, step in enumerate(steps)
            if place == 0 or step.get("uri") != ASKED or steps[place - 1].get("uri") != ASKED
        ]
    )
