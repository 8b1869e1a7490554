"""Streams without a sign of life."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, on_block


@on_block("comments are left out", breaks="CONF-TPT-01.http.heartbeat", silent=True)
def change(block: bytes, context: FaultContext) -> bytes:
    return b"" if block.startswith(b":") else block
