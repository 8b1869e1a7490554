"""The stream is kept alive by messages that are none."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, on_block
from assay.lab.harness.transport import HTTP_SSE_ONLY


@on_block("a heartbeat is sent as a message", breaks="SSE-04", transports=HTTP_SSE_ONLY)
def change(block: bytes, context: FaultContext) -> bytes:
    return block + b"data: ping\n\n"
