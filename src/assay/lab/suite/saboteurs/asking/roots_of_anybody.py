"""Roots are asked for without a look at what the client declared."""

from __future__ import annotations

from assay.lab.harness.driver.question import declare_for
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request


@on_request("every client is taken to have roots", breaks="RT-08")
def change(message: Json, context: FaultContext) -> Json:
    declare_for(message, {"roots": {}})
    return message
