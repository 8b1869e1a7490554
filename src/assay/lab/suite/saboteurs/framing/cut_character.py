"""Texts are cut at a number of bytes, in the middle of a character."""

from __future__ import annotations

from assay.lab.harness.sabotage.alteration import encode
from assay.lab.harness.sabotage.saboteur import FaultContext, Json, on_reply
from assay.lab.harness.transport import STDIO_ONLY
from assay.revisions.registry import HANDSHAKE


@on_reply(
    "a text is cut in the middle of a character",
    breaks="BASE-12",
    scenario="jsonrpc.unknown-method",
    transports=STDIO_ONLY,
    window=lambda revision: revision is HANDSHAKE[-1],
    silent=True,
)
def change(reply: Json, context: FaultContext) -> Json | bytes:
    if "error" not in reply:
        return reply
    text = {**reply["error"], "message": "There is no method of that na…"}
    ellipsis = "…".encode()
    return encode({**reply, "error": text}).replace(ellipsis, ellipsis[:1])
