"""An answer that nobody waits for ends the client."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed


@misbehaving(
    "an answer that answers nothing ends the client", breaks="HOSTILE-03", scenario="hostile.stray-answers"
)
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play(client.context["steps"][:2])
    raise Failed("an answer came that nobody waits for")
