"""The stream ends, and the answer was not on it."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, on_block


@on_block("a stream ends without an answer", breaks="server-sse-streams-functional")
def change(block: bytes, context: FaultContext) -> bytes:
    return b"" if b'"result"' in block and b'"tools"' in block and b'"inputSchema"' in block else block
