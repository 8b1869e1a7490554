"""What cannot be read is dropped without a word."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.model.error import PARSE_ERROR


@on_reply("text that is no JSON is ignored", breaks="CONF-JRPC-03.malformed")
def change(reply: Json, context: FaultContext) -> Json | None:
    return None if reply.get("error", {}).get("code") == PARSE_ERROR else reply
