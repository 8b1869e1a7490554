"""A client that does nothing but open streams."""

from __future__ import annotations

from assay.lab.client.checks.hostile.fleeting_stream import BUSY, MOST
from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.web import Web
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, call
from assay.lab.harness.transport import HTTP_ONLY


@misbehaving(
    "a stream that ended is opened at once, over and over",
    breaks="HOSTILE-14",
    scenario="hostile.fleeting-stream",
    transports=HTTP_ONLY,
)
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play([LIST_TOOLS])
    client.task(_open(client))
    await client.play([call(BUSY)])


async def _open(client: ScriptedClient) -> None:
    for _ in range(2 * MOST):
        await Web(client).fetch("GET", client.invitation.url, [("Accept", "text/event-stream")])
