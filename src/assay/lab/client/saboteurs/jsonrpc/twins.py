"""Two requests at once under one id."""

from __future__ import annotations

import asyncio

from assay.lab.client.evidence import AFTER, ENDLESS
from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.transport import STDIO_ONLY

PAUSE = 0.1


@misbehaving(
    "a second request has the id of one under way",
    breaks="BASE-05",
    scenario="framing.gives-up",
    transports=STDIO_ONLY,
)
async def behave(client: ScriptedClient) -> None:
    await client.open()
    for tool in (ENDLESS, AFTER):
        params = declared(client.revision, {"name": tool, "arguments": {}}, {})
        message = {"jsonrpc": "2.0", "id": "twin", "method": "tools/call", "params": params}
        client.task(client.send(message))
        await asyncio.sleep(PAUSE)
