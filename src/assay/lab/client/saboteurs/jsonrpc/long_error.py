"""A report in place of a sentence."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient

TRACE = "Traceback (most recent call last):\n" + "  File somewhere\n" * 40


@on_message("an error holds a stack trace", breaks="BASE-16")
def change(message: Json, client: ScriptedClient) -> Json:
    return within(message, ("error",), lambda error: {**error, "message": TRACE})
