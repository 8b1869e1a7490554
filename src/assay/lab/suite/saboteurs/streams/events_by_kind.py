"""Events are named for what is in them."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, on_block
from assay.lab.harness.transport import HTTP_SSE_ONLY


@on_block("a response is an event of type `response`", breaks="SSE-04", transports=HTTP_SSE_ONLY, silent=True)
def change(block: bytes, context: FaultContext) -> bytes:
    return block.replace(b"event: message", b"event: response")
