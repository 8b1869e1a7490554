"""What a program writes to a pipe that is meant for messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness import Observation, Trace, observe
from assay.lab.harness.trace.frame import Kind, Sender

EXPECTED: Final = "a JSON-RPC message on a line of its own"


def rubbish_at_the_end(trace: Trace, row: str) -> Iterator[Observation]:
    for frame in trace.frames:
        unfinished = frame.kind is Kind.LINE and frame.sender is Sender.SUBJECT and frame.raw[-1:] != b"\n"
        # What ends with the stream is whole, though its newline is missing; what is no object is rubbish.
        if unfinished and not frame.raw.strip().startswith(b"{"):
            observed = f"{frame.raw[:80]!r} before the end"
            yield observe(row, False, frame, expected=EXPECTED, observed=observed)
