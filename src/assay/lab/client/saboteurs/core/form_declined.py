"""A form that the user accepted is declined."""

from __future__ import annotations

from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_message("what the user accepts is declined", breaks="client-elicitation-sep1034-general")
def change(message: Json, guest: Guest) -> Json:
    return {**message, "result": {"action": "decline"}} if "result" in message else message
