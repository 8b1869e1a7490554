"""The digest is of the text as JSON, quotes and escapes included."""

from __future__ import annotations

import json
from hashlib import sha256

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.marketplace.cap_meta import PROVENANCE
from assay.lab.marketplace.cap_sabotaging import contents


@on_reply(
    "the digest is of what was serialised",
    breaks="CONF-CAP-03.resources.provenance",
    window=newest_of_each_kind,
)
def change(reply: Json, context: FaultContext) -> Json:
    for content in contents(reply, context):
        written = json.dumps(content.get("text", content.get("blob"))).encode()
        content["_meta"][PROVENANCE]["digest"] = sha256(written).hexdigest()
    return reply
