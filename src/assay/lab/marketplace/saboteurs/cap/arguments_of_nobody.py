"""The digest of the arguments is always that of none."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.trace.digest import digest_of
from assay.lab.marketplace.cap_sabotaging import summary


@on_reply("argsDigest is the one of an empty object", breaks="CONF-CAP-03.tools.digests")
def change(reply: Json, context: FaultContext) -> Json:
    said = summary(reply, context)
    if said is not None:
        said["argsDigest"] = digest_of(b"{}")
    return reply
