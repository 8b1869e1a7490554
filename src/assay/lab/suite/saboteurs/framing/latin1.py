"""The output has the encoding of an old console."""

from __future__ import annotations

import json

from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply


@on_reply("messages are written in Latin-1", breaks="BASE-12", scenario="jsonrpc.ids", silent=True)
def change(reply: Json, context: FaultContext) -> Json | bytes:
    text = json.dumps(reply, ensure_ascii=False)
    return reply if text.isascii() else text.encode("latin-1", "replace")
