"""The cost of signing 1 KB of request state and opening it again, inside one process."""

from __future__ import annotations

from typing import IO

from .process import running, time_limit
from .subject import PEERS, python_of
from .tool_count import START_TIMEOUT, read_line, run_batch


def measure(batches: int, log: IO[bytes]) -> list[float]:
    """Microseconds per signature and verification: the median of each batch."""
    command = [str(python_of("assay")), str(PEERS / "assay_state.py")]
    with running(command, log, pipes=True) as child, time_limit(START_TIMEOUT, "assay_state"):
        read_line(child)
        return [run_batch(child) * 1e6 for _ in range(batches)]
