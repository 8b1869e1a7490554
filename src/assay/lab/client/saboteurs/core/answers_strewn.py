"""Answers that are for another call."""

from __future__ import annotations

from assay.lab.client.altered import is_call, within
from assay.lab.client.fixtures.retried_tools import UNRELATED
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("another call carries the answers", breaks="sep-2322-client-parallel-isolation")
def change(message: Json, client: ScriptedClient) -> Json:
    if not is_call(message, UNRELATED):
        return message
    return within(message, ("params",), lambda params: {**params, "inputResponses": {}})
