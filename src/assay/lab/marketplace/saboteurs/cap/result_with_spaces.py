"""The digest of the result is of JSON with spaces."""

from __future__ import annotations

import json

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.harness.trace.digest import digest_of
from assay.lab.marketplace.cap_sabotaging import summary


@on_reply(
    "resultDigest is of another form of JSON", breaks="CONF-CAP-03.tools.digests", window=newest_of_each_kind
)
def change(reply: Json, context: FaultContext) -> Json:
    said = summary(reply, context)
    if said is not None:
        written = json.dumps(reply["result"]["content"]).encode()
        said["resultDigest"] = digest_of(written)
    return reply
