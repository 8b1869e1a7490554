"""An error of HTTP ends the client."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed
from assay.lab.harness.transport import HTTP_ONLY


@misbehaving(
    "an HTTP error ends the client",
    breaks="HOSTILE-06",
    scenario="hostile.bad-responses",
    transports=HTTP_ONLY,
)
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play(client.context["steps"][:2])
    raise Failed("the server answered with HTTP status 500")
