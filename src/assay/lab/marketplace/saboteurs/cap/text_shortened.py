"""What is read is cut, and its digest is not."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.marketplace.cap_sabotaging import contents


@on_reply(
    "the text is not the one that the digest is of",
    breaks="CONF-CAP-03.resources.provenance",
    window=newest_of_each_kind,
)
def change(reply: Json, context: FaultContext) -> Json:
    for content in contents(reply, context):
        if content.get("text"):
            content["text"] = content["text"][:-1]
    return reply
