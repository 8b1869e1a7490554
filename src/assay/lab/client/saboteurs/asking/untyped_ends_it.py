"""A result that does not say what it is ends the client."""

from __future__ import annotations

from assay.lab.client.altered import is_call
from assay.lab.harness.client_saboteur import on_message
from assay.lab.harness.guest.failure import Failed
from assay.lab.harness.guest.guest import Guest
from assay.lab.harness.saboteur import Json


@on_message("a result without a type ends the client", breaks="BASE-18", scenario="asking.untyped-result")
def change(message: Json, guest: Guest) -> Json:
    if is_call(message, "after"):
        raise Failed("the result before had no type")
    return message
