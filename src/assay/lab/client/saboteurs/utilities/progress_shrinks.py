"""Progress that goes back."""

from __future__ import annotations

from assay.lab.client.altered import progress
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("progress is told, and then less of it", breaks="PRG-03", scenario="utilities.own-progress")
def change(message: Json, client: ScriptedClient) -> list[Json]:
    return [progress("model-1", 2), progress("model-1", 1), message] if "result" in message else [message]
