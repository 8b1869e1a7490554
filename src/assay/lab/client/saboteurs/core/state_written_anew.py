"""A state that was read and written again."""

from __future__ import annotations

import json

from assay.lab.client.altered import within
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("the state is parsed, and written anew", breaks="sep-2322-client-request-state-echoed")
def change(message: Json, client: ScriptedClient) -> Json:
    state = message.get("params", {}).get("requestState")
    if state is None:
        return message
    anew = json.dumps(json.loads(state))
    return within(message, ("params",), lambda params: {**params, "requestState": anew})
