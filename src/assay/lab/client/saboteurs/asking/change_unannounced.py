"""Roots change without a word."""

from __future__ import annotations

from assay.lab.harness.sabotage.client_saboteur import on_message
from assay.lab.harness.sabotage.saboteur import Json
from assay.lab.harness.scripted_client.client import ScriptedClient


@on_message("a change of roots is not announced", breaks="RT-02", scenario="asking.roots-changed")
def change(message: Json, client: ScriptedClient) -> Json | None:
    return None if message.get("method") == "notifications/roots/list_changed" else message
