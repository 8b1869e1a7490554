"""Progress of something that nobody asked for."""

from __future__ import annotations

from assay.lab.client.altered import progress
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("progress is told of an unknown token", breaks="PRG-04", scenario="utilities.own-progress")
def change(message: Json, client: ScriptedClient) -> list[Json]:
    return [progress("made up", 1), message] if "result" in message else [message]
