"""A model uses no tool although it must."""

from __future__ import annotations

from assay.lab.client.altered import changed_answer
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a model uses no tool although it must", breaks="SMP-20", scenario="asking.sampling-tools")
def change(message: Json, client: ScriptedClient) -> Json:
    return changed_answer(message, lambda said: {**said, "content": {"type": "text", "text": "no"}})
