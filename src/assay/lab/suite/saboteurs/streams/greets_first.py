"""The stream says hello before it says where messages go."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, on_block
from assay.lab.harness.transport import HTTP_SSE_ONLY


@on_block("something comes before the `endpoint` event", breaks="SSE-02", transports=HTTP_SSE_ONLY)
def change(block: bytes, context: FaultContext) -> bytes:
    hello = b"event: connected\ndata: welcome\n\n"
    return hello + block if block.startswith(b"event: endpoint") else block
