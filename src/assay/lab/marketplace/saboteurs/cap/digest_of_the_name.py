"""The digest of a prompt is of its name."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.harness.trace.digest import digest_of
from assay.lab.marketplace.cap_meta import VERSION
from assay.lab.marketplace.cap_sabotaging import listed


@on_reply(
    "the digest of a prompt is of something else",
    breaks="CONF-CAP-03.prompts.digest",
    window=newest_of_each_kind,
)
def change(reply: Json, context: FaultContext) -> Json:
    for prompt in listed(reply, context, "prompts"):
        prompt["_meta"][VERSION]["digest"] = digest_of(prompt["name"].encode())
    return reply
