"""One cache for everybody."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.transport import HTTP_ONLY


@misbehaving("what was kept under one token is used under another", breaks="CA-11", transports=HTTP_ONLY)
async def behave(client: ScriptedClient) -> None:
    await client.open()
    first, second, _, last = client.context["steps"]
    # Whoever has an answer already does not ask.
    await client.play([first, second, last])
