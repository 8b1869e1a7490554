"""The address for messages is wrapped in JSON."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, on_block
from assay.lab.harness.transport import HTTP_SSE_ONLY


@on_block("the `endpoint` event holds an object", breaks="SSE-02", transports=HTTP_SSE_ONLY, silent=True)
def change(block: bytes, context: FaultContext) -> bytes:
    if not block.startswith(b"event: endpoint"):
        return block
    return b'event: endpoint\ndata: {"uri": "/messages"}\n\n'
