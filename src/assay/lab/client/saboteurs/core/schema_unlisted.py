"""A schema that was never asked for."""

from __future__ import annotations

from assay.lab.client.fixtures.rich_schema import ECHO
from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.brief import call


@misbehaving("no tool is listed", breaks="json-schema-2020-12-client-tool-found")
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play([call(ECHO, schema={"type": "object"})])
