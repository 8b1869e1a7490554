"""How far fuzzing is: a line that renews itself on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import IO, Final

from assay.lab.fuzz.fuzzer import Count

LIVE, PLAIN = 0.2, 10.0
"""Seconds between two lines, on a terminal and elsewhere."""
CLEAR: Final = "\r\x1b[K"


class FuzzProgress:
    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._begin = self._told = time.monotonic()

    def __enter__(self) -> FuzzProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._stream.write(CLEAR)
            self._stream.flush()

    def __call__(self, count: Count) -> None:
        moment = time.monotonic()
        if moment - self._told < (LIVE if self._live else PLAIN):
            return
        self._told = moment
        text = line(count, moment - self._begin)
        self._stream.write(f"{CLEAR}{text}" if self._live else f"{text}\n")
        self._stream.flush()


def line(count: Count, seconds: float) -> str:
    pace = count.cases / seconds if seconds else 0.0
    found = findings(count.found)
    return f"{seconds:.0f} s: {count.cases} conversations ({pace:.0f}/s), {found}, at {count.place}"


def findings(count: int) -> str:
    return f"{count} finding{'' if count == 1 else 's'}"
