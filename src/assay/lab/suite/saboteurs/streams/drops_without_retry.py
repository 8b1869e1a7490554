"""The connection is dropped, and nobody is told when to come back."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, on_block


@on_block("a connection is dropped without `retry`", breaks="HTTP-25", scenario="streams.answer-stream")
def change(block: bytes, context: FaultContext) -> bytes:
    return b"" if b'"result"' in block or b"retry:" in block else block
