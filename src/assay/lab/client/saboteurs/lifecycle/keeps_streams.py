"""A client that hangs up on nobody."""

from __future__ import annotations

import asyncio

from assay.lab.client.evidence import AFTER, ENDLESS
from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.brief import call
from assay.lab.harness.transport import HTTP_ONLY
from assay.revisions.registry import PER_REQUEST

PAUSE = 0.2


@misbehaving(
    "the response to a request that took too long is left open",
    breaks="LIFE-16",
    transports=HTTP_ONLY,
    window=lambda revision: revision in PER_REQUEST,
)
async def behave(client: ScriptedClient) -> None:
    await client.open()
    params = declared(client.revision, {"name": ENDLESS, "arguments": {}}, {})
    client.task(client.send({"jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": params}))
    await asyncio.sleep(PAUSE)
    await client.play([call(AFTER)])
