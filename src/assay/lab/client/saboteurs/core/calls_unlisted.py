"""Tools are called by hearsay."""

from __future__ import annotations

from assay.lab.client.fixtures.ill_marked_tools import ARGUMENTS, VALID
from assay.lab.harness.sabotage.client_saboteur import misbehaving
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.brief import call
from assay.lab.harness.transport import HTTP_ONLY


@misbehaving(
    "tools are called that were never listed",
    breaks="sep-2243-invalid-tool-tools-list-gate",
    transports=HTTP_ONLY,
)
async def behave(client: ScriptedClient) -> None:
    await client.open()
    await client.play([call(VALID, **ARGUMENTS)])
