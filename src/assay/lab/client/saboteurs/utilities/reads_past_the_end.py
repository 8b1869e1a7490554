"""One page more than there are."""

from __future__ import annotations

from contextlib import suppress

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed
from assay.lab.harness.scripted_server.brief import step


@misbehaving("a page is asked for after the last one", breaks="PAG-04", scenario="utilities.all-used")
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play([step("list_prompts")])
    with suppress(Failed):
        await client.request("prompts/list", {"cursor": "at:4"})
