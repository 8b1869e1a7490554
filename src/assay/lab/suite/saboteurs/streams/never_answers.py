"""Streams have no ids to come back with, and end without a response."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import FaultContext, on_block


@on_block(
    "neither a response nor an id to come back with", breaks="HTTP-14", scenario="streams.answer-stream"
)
def change(block: bytes, context: FaultContext) -> bytes:
    return b":\n\n"
