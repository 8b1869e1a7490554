"""A mark that is no name of a header is taken."""

from __future__ import annotations

from assay.lab.client.altered import overlooking
from assay.lab.client.fixtures.ill_marked_tools import FAULTS
from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.transport import HTTP_ONLY


@on_hearing(
    "a tool with a mark that is no token is used",
    breaks="sep-2243-x-mcp-header-charset",
    transports=HTTP_ONLY,
)
def change(message: Json, client: ScriptedClient) -> Json:
    return overlooking(message, FAULTS["sep-2243-x-mcp-header-charset"])
