"""An icon of somebody else."""

from __future__ import annotations

from assay.lab.client.evidence import AFTER
from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.web import Web
from assay.lab.harness.scripted_server.brief import LIST_TOOLS


@misbehaving("an icon of another origin is fetched", breaks="IC-03")
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play([LIST_TOOLS])
    await Web(client).fetch("GET", client.tools[AFTER]["icons"][1]["src"])
