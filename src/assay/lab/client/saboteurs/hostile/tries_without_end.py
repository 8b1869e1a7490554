"""A client that never gives up."""

from __future__ import annotations

from contextlib import suppress

from assay.lab.client.checks.hostile.bad_responses import MOST
from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, call
from assay.lab.harness.transport import HTTP_ONLY


@misbehaving(
    "a call that fails is made over and over",
    breaks="HOSTILE-07",
    scenario="hostile.bad-responses",
    transports=HTTP_ONLY,
)
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play([LIST_TOOLS])
    for _ in range(MOST + 1):
        with suppress(Failed):
            await client.play([call("error_500")])
