"""Events that cannot be returned to."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, on_block


@on_block("events have no ids", breaks="CONF-TPT-01.http.resume")
def change(block: bytes, context: FaultContext) -> bytes:
    lines = block.split(b"\n")
    return b"\n".join(line for line in lines if not line.startswith(b"id:"))
