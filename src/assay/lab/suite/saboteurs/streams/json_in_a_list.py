"""Answers are always lists."""

from __future__ import annotations

import msgspec

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import HTTP_ONLY


@on_reply("a request is answered with a list of one", breaks="HTTP-12", transports=HTTP_ONLY)
def change(reply: Json, context: FaultContext) -> bytes:
    return b"[%b]" % msgspec.json.encode(reply)
