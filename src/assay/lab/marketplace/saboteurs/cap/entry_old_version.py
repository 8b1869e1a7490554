"""The registry has an older version of a prompt."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.marketplace.cap_meta import VERSION
from assay.lab.marketplace.cap_sabotaging import listed


@on_reply(
    "a prompt has another version than its entry says",
    breaks="CONF-CAP-03.registry.agree",
    window=newest_of_each_kind,
)
def change(reply: Json, context: FaultContext) -> Json:
    for prompt in listed(reply, context, "prompts"):
        prompt["_meta"][VERSION]["semver"] = "9.0.0"
    return reply
