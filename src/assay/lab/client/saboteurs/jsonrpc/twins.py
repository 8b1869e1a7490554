"""Two requests at once under one id."""

from __future__ import annotations

import asyncio

from assay.lab.client.evidence import AFTER, ENDLESS
from assay.lab.harness.driver.message_meta import declared
from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import Guest
from assay.lab.harness.transport import STDIO_ONLY

PAUSE = 0.1


@misbehaving(
    "a second request has the id of one under way",
    breaks="BASE-05",
    scenario="framing.gives-up",
    transports=STDIO_ONLY,
)
async def behave(guest: Guest) -> None:
    await guest.open()
    for tool in (ENDLESS, AFTER):
        params = declared(guest.revision, {"name": tool, "arguments": {}}, {})
        message = {"jsonrpc": "2.0", "id": "twin", "method": "tools/call", "params": params}
        guest.task(guest.send(message))
        await asyncio.sleep(PAUSE)
