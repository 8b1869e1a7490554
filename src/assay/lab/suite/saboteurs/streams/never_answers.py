"""Streams have no ids to come back with, and end without a response."""

from __future__ import annotations

from assay.lab.harness.sabotage.saboteur import Turn, on_block


@on_block(
    "neither a response nor an id to come back with", breaks="HTTP-14", scenario="streams.answer-stream"
)
def change(block: bytes, turn: Turn) -> bytes:
    return b":\n\n"
