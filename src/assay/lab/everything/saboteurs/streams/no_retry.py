"""Clients come back when they like."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, on_block


@on_block("a stream is closed without `retry`", breaks="server-sse-retry-field")
def change(block: bytes, context: FaultContext) -> bytes:
    return b"\n".join(line for line in block.split(b"\n") if not line.startswith(b"retry:"))
