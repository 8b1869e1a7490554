"""A model that does not know when to stop."""

from __future__ import annotations

from assay.lab.client.altered import changed_answer
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a model says more than it may", breaks="SMP-10", scenario="asking.sampling")
def change(message: Json, client: ScriptedClient) -> Json:
    return changed_answer(
        message, lambda said: {**said, "content": {"type": "text", "text": "on and " * 9000}}
    )
