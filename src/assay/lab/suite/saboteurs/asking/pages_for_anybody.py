"""Who can be shown forms is taken to be able to open pages."""

from __future__ import annotations

from assay.lab.harness.driver.question import declare_for
from assay.lab.harness.sabotage.saboteur import Json, Turn, on_request


@on_request("every client is taken to open pages", breaks="EL-03")
def change(message: Json, turn: Turn) -> Json:
    declare_for(message, {"elicitation": {"form": {}, "url": {}}})
    return message
