"""A server that is given no time."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import misbehaving
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.guest.stdio_carrier import StdioCarrier
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
