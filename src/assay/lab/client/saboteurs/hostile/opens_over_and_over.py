"""A client that does nothing but open streams."""

from __future__ import annotations

from assay.lab.client.checks.hostile.fleeting_stream import BUSY, MOST
from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import Guest
from assay.lab.harness.scripted_client.web import Web
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, call
from assay.lab.harness.transport import HTTP_ONLY


@misbehaving(
    "a stream that ended is opened at once, over and over",
    breaks="HOSTILE-14",
    scenario="hostile.fleeting-stream",
    transports=HTTP_ONLY,
)
async def behave(guest: Guest) -> None:
    await guest.open()
    await guest.play([LIST_TOOLS])
    guest.task(_open(guest))
    await guest.play([call(BUSY)])


async def _open(guest: Guest) -> None:
    for _ in range(2 * MOST):
        await Web(guest).fetch("GET", guest.invitation.url, [("Accept", "text/event-stream")])
