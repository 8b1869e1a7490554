"""One bad tool, and no tool is good."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.transport import HTTP_ONLY


@on_hearing(
    "a tool with a bad mark takes all others with it",
    breaks="sep-2243-client-reject-invalid-tool",
    transports=HTTP_ONLY,
)
def change(message: Json, client: ScriptedClient) -> Json:
    if "tools" not in message.get("result", {}):
        return message
    return within(message, ("result",), lambda result: {**result, "tools": []})
