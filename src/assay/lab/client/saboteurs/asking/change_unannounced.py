"""Roots change without a word."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_message("a change of roots is not announced", breaks="RT-02", scenario="asking.roots-changed")
def change(message: Json, guest: Guest) -> Json | None:
    return None if message.get("method") == "notifications/roots/list_changed" else message
