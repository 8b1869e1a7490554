"""A request of nobody."""

from __future__ import annotations

from assay.lab.client.altered import with_meta, without
from assay.lab.harness.driver.message_meta import CLIENT_KEY
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("requests do not name the client", breaks="sep-2575-client-sends-client-info")
def change(message: Json, client: ScriptedClient) -> Json:
    return with_meta(message, lambda meta: without(meta, CLIENT_KEY))
