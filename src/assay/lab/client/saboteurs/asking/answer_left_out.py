"""One of two questions is not answered."""

from __future__ import annotations

from assay.lab.client.altered import within, without
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("one of two questions is not answered", breaks="MR-13", scenario="asking.several-rounds")
def change(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("params", "inputResponses"), lambda given: without(given, "question-2"))
