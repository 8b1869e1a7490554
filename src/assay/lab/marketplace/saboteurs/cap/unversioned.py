"""Prompts have no versions."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.marketplace.cap_meta import VERSION
from assay.lab.marketplace.cap_sabotaging import listed


@on_reply("prompts are listed without a version", breaks="CONF-CAP-03.prompts.version")
def change(reply: Json, context: FaultContext) -> Json:
    for prompt in listed(reply, context, "prompts"):
        prompt["_meta"].pop(VERSION)
    return reply
