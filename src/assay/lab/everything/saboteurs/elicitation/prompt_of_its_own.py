"""The model is asked what the server likes to know."""

from __future__ import annotations

from assay.lab.harness.driver.question import SAMPLE, asked_in
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("sampling does not ask with the prompt that was given", breaks="tools-call-sampling")
def change(reply: Json, context: FaultContext) -> Json:
    for params in asked_in(reply, SAMPLE):
        params["messages"][0]["content"]["text"] = "Say something"
    return reply
