"""What is no message takes the next message with it."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.transport import STDIO_ONLY


@on_hearing("the answer after what is no message is not heard", breaks="HOSTILE-04", transports=STDIO_ONLY)
def change(message: Json, client: ScriptedClient) -> Json | None:
    if "hello" in message:
        client.memory["lost"] = True
    elif "result" in message and client.memory.pop("lost", False):
        return None
    return message
