"""Everybody is asked by a form."""

from __future__ import annotations

from assay.lab.everything.input_round import asking_tool
from assay.lab.everything.spoiling import names
from assay.lab.harness.driver.question import declare_for
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_request


@on_request("clients without users are sent forms", breaks="sep-2322-respect-client-capabilities")
def change(message: Json, context: FaultContext) -> Json:
    if names(message, asking_tool("capabilities")):
        declare_for(message, {"elicitation": {}})
    return message
