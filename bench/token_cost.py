"""The cost of authorizing a request by its token: a known one, or a new one."""

from __future__ import annotations

from typing import IO, Final

from .process import running, time_limit
from .subject import PEERS, python_of
from .tool_count import START_TIMEOUT, read_line, run_batch

KINDS: Final = ("known", "new")


def measure(batches: int, log: IO[bytes]) -> dict[str, list[float]]:
    """Microseconds for one request, by kind of token: the median of each batch."""
    return {kind: _measure(kind, batches, log) for kind in KINDS}


def _measure(kind: str, batches: int, log: IO[bytes]) -> list[float]:
    command = [str(python_of("assay")), str(PEERS / "assay_token.py"), kind]
    with running(command, log, pipes=True) as child, time_limit(START_TIMEOUT, "assay_token"):
        read_line(child)
        return [run_batch(child) * 1e6 for _ in range(batches)]
