"""A root that is no file."""

from __future__ import annotations

from assay.lab.client.altered import changed_answer
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a root is an address on the web", breaks="RT-03", scenario="asking.roots")
def change(message: Json, client: ScriptedClient) -> Json:
    return changed_answer(message, lambda said: {**said, "roots": [{"uri": "https://example.com/"}]})
