"""The system prompt is the first message."""

from __future__ import annotations

from assay.lab.harness.driver.question import SAMPLE, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("a sampling message has role system", breaks="SMP-08")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, SAMPLE):
        params["messages"][0]["role"] = "system"
    return reply
