"""URIs are tidied up."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a URI gets a slash at its end before it is read", breaks="USE-01")
def change(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "resources/read":
        return message
    return within(message, ("params",), lambda fields: {**fields, "uri": f"{fields['uri']}/"})
