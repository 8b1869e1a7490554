"""Versions have two numbers."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.marketplace.cap_meta import VERSION
from assay.lab.marketplace.cap_sabotaging import listed


@on_reply(
    "a version is no semantic version", breaks="CONF-CAP-03.prompts.version", window=newest_of_each_kind
)
def change(reply: Json, context: FaultContext) -> Json:
    for prompt in listed(reply, context, "prompts"):
        prompt["_meta"][VERSION]["semver"] = "1.2"
    return reply
