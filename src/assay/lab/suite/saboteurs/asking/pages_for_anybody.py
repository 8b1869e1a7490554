"""Who can be shown forms is taken to be able to open pages."""

from __future__ import annotations

from assay.lab.harness.driver.question import declare_for
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request


@on_request("every client is taken to open pages", breaks="EL-03")
def change(message: Json, context: FaultContext) -> Json:
    declare_for(message, {"elicitation": {"form": {}, "url": {}}})
    return message
