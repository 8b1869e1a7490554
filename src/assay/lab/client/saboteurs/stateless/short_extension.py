"""An extension without a prefix."""

from __future__ import annotations

from assay.lab.client.altered import with_meta
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("an extension is declared by a short name", breaks="VER-06")
def change(message: Json, client: ScriptedClient) -> Json:
    def extended(meta: Json) -> Json:
        return {**meta, CAPABILITIES_KEY: {"extensions": {"tasks": {}}}}

    return with_meta(message, extended)
