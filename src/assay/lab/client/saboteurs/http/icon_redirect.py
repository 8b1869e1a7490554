"""An icon that leads elsewhere."""

from __future__ import annotations

from assay.lab.client.evidence import AFTER
from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.web import Web
from assay.lab.harness.scripted_server.brief import LIST_TOOLS


@misbehaving("a redirect of an icon to another origin is followed", breaks="IC-02")
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play([LIST_TOOLS])
    away = await Web(client).fetch("GET", client.tools[AFTER]["icons"][0]["src"])
    await Web(client).fetch("GET", away.head.get("location") or "")
