"""The same page over and over."""

from __future__ import annotations

from assay.lab.client.fixtures.endless import MOST_SAME, SAME
from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient


@misbehaving(
    "a page is read as often as the list leads to it", breaks="HOSTILE-10", scenario="hostile.same-cursor"
)
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.request("tools/list")
    for _ in range(MOST_SAME):
        await client.request("tools/list", {"cursor": SAME})
