"""A model is offered tools by a server that did not look whether the client lets it."""

from __future__ import annotations

from assay.lab.harness.driver.question import SAMPLE, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("sampling requests always offer tools", breaks="SMP-03", scenario="asking.undeclared")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, SAMPLE):
        params["tools"] = [{"name": "look_up", "inputSchema": {"type": "object"}}]
    return reply
