"""An answer that came too early is kept for later."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("an answer from before the request is taken for its answer", breaks="HOSTILE-01")
def change(message: Json, client: ScriptedClient) -> Json:
    kept: dict[str, Json] = client.memory.setdefault("kept", {})
    if "method" in message:
        return message
    name = repr(message.get("id"))
    if message.get("id") not in [one.id for one in client.ears.waiting]:
        kept.setdefault(name, message)
    return kept.get(name, message)
