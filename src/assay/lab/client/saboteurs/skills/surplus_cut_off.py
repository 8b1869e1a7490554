"""What is too much of a skill is cut off."""

from __future__ import annotations

from assay.lab.client.altered import within
from assay.lab.client.fixtures.skill import MANIFEST, TEXTS
from assay.lab.harness.sabotage.client_saboteur import on_hearing
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_hearing("a file that is too long is cut to its size", breaks="sep-2640-host-size-mismatch-failure")
def change(message: Json, client: ScriptedClient) -> Json:
    contents = message.get("result", {}).get("contents", [{}])
    if contents[0].get("uri") != MANIFEST:
        return message
    kept = {**contents[0], "text": TEXTS[MANIFEST]}
    return within(message, ("result",), lambda result: {**result, "contents": [kept]})
