"""A server that is given no time."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import Guest
from assay.lab.harness.scripted_client.stdio_transport import StdioCarrier
from assay.lab.harness.transport import STDIO_ONLY


@misbehaving(
    "a server is killed while its input is open",
    breaks="STD-11",
    scenario="framing.shutdown",
    transports=STDIO_ONLY,
)
async def behave(guest: Guest) -> None:
    await guest.open()
    await guest.play(guest.context["steps"])
    assert isinstance(guest.carrier, StdioCarrier) and guest.carrier.process is not None
    guest.carrier.process.kill()
    await guest.carrier.process.wait()
