"""Progress of something that is done."""

from __future__ import annotations

from assay.lab.client.altered import is_call, progress
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("progress is told after the answer", breaks="PRG-05", scenario="utilities.own-progress")
def change(message: Json, client: ScriptedClient) -> list[Json]:
    if "result" in message:
        client.memory["answered"] = True
    # The next call is the first moment at which the answer has surely gone before.
    late = is_call(message, "after") and client.memory.get("answered")
    return [message, progress("model-1", 1)] if late else [message]
