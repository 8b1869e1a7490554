"""A server that is given no time."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.stdio_transport import StdioClientTransport
from assay.lab.harness.transport import STDIO_ONLY


@misbehaving(
    "a server is killed while its input is open",
    breaks="STD-11",
    scenario="framing.shutdown",
    transports=STDIO_ONLY,
)
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play(client.context["steps"])
    assert isinstance(client.carrier, StdioClientTransport) and client.carrier.process is not None
    client.carrier.process.kill()
    await client.carrier.process.wait()
