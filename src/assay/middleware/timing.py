"""How long requests take, by method and name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from assay.server.middleware.call import MiddlewareCall, Next, Result

from .log import logger, title_of

MAX_NAMES: Final = 1000
"""Clients choose names: further ones are counted by their method alone."""


class Duration(Struct):
    """The durations of some requests, in seconds."""

    count: int = 0
    total: float = 0.0
    longest: float = 0.0

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0

    def add(self, seconds: float) -> None:
        self.count += 1
        self.total += seconds
        self.longest = max(self.longest, seconds)


class Timing:
    """Measures requests, also those that fail: `timing.durations["tools/call", "add"].mean`.

    Args:
        slow: Seconds; a request that takes longer is logged as a warning.
        clock: Returns seconds.
    """

    def __init__(self, *, slow: float | None = None, clock: Callable[[], float] = perf_counter) -> None:
        self._slow = slow
        self._clock = clock
        self._durations: dict[tuple[str, str | None], Duration] = {}

    @property
    def durations(self) -> Mapping[tuple[str, str | None], Duration]:
        """The durations by method and name; the name is None for methods without one."""
        return MappingProxyType(self._durations)

    async def __call__(self, call: MiddlewareCall, next: Next[Result]) -> Result:
        begin = self._clock()
        try:
            return await next(call)
        finally:
            seconds = self._clock() - begin
            self._duration_of(call).add(seconds)
            if self._slow is not None and seconds > self._slow:
                logger.warning("%s was slow: %.1f ms", title_of(call), seconds * 1000)

    def _duration_of(self, call: MiddlewareCall) -> Duration:
        key = (call.method, call.name)
        if key not in self._durations and len(self._durations) >= MAX_NAMES:
            # The methods of the protocol are few. An unknown one counts with all others.
            key = (call.method, None) if (call.method, None) in self._durations else ("", None)
        return self._durations.setdefault(key, Duration())
