"""An unknown end ends the client."""

from __future__ import annotations

from assay.lab.client.altered import is_call
from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.failure import Failed
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_message(
    "the end of an unknown elicitation ends the client", breaks="EL-18", scenario="asking.unknown-completion"
)
def change(message: Json, guest: Guest) -> Json:
    if is_call(message, "after"):
        raise Failed("the end of an unknown elicitation was announced")
    return message
