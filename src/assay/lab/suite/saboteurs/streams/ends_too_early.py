"""The stream is closed by whoever is first, and that is not always the handler."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, on_block


@on_block("the stream ends before the response", breaks="HTTP-16", scenario="streams.answer-stream")
def change(block: bytes, context: FaultContext) -> bytes:
    return b"" if b'"result"' in block else block
