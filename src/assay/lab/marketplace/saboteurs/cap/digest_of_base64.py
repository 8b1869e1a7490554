"""Of bytes, the digest is of the text that carries them."""

from __future__ import annotations

from hashlib import sha256

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, newest_of_each_kind, on_reply
from assay.lab.marketplace.cap_meta import PROVENANCE
from assay.lab.marketplace.cap_sabotaging import contents


@on_reply(
    "the digest of a blob is that of its Base64",
    breaks="CONF-CAP-03.resources.provenance",
    window=newest_of_each_kind,
)
def change(reply: Json, context: FaultContext) -> Json:
    for content in contents(reply, context):
        if "blob" in content:
            content["_meta"][PROVENANCE]["digest"] = sha256(content["blob"].encode()).hexdigest()
    return reply
