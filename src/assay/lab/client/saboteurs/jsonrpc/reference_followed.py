"""A schema is completed from the network."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.web import Web
from assay.lab.harness.scripted_server.brief import LIST_TOOLS


@misbehaving("what a schema refers to is fetched", breaks="JS-07", scenario="jsonrpc.references")
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play([LIST_TOOLS])
    schema = client.tools["referring"]["inputSchema"]
    await Web(client).fetch("GET", schema["properties"]["city"]["$ref"])
