"""The first id comes with the first message."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, on_block


@on_block("a stream does not begin with an empty event", breaks="HTTP-23")
def change(block: bytes, context: FaultContext) -> bytes:
    return block if b'"jsonrpc"' in block else b":\n\n"
