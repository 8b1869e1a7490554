"""Where handlers get time and random numbers: from the system, or from seeds, so that a call can be repeated.

A seeded source gives each request values that depend only on the seed and the id of the request, whatever
else the server does at the same time.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Final, Protocol

from assay.model.seed import CLOCK, RANDOM_SEED

if TYPE_CHECKING:
    from random import Random  # imported where it is used: most servers do not need it

TICK: Final = timedelta(milliseconds=1)
LONGEST_SEED: Final = 1024


class Clock(Protocol):
    def now(self) -> datetime:
        """The current time in UTC."""

    def time(self) -> float:
        """The same in seconds since 1970, as `time.time`."""


class Sources(Protocol):
    """The clock and the random numbers of a server: `Server(sources=...)`."""

    def clock(self, request_id: object) -> Clock: ...

    def random(self, request_id: object) -> Random: ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def time(self) -> float:
        return time.time()


class TickingClock:
    """Begins at a given time and advances by one millisecond whenever it is read."""

    def __init__(self, start: datetime) -> None:
        self._next = start

    def now(self) -> datetime:
        moment = self._next
        self._next += TICK
        return moment

    def time(self) -> float:
        return self.now().timestamp()


@cache
def system_random() -> Random:
    from random import SystemRandom

    return SystemRandom()


class SystemSources:
    """Time and unpredictable random numbers of the operating system."""

    def clock(self, request_id: object) -> Clock:
        return _SYSTEM_CLOCK

    def random(self, request_id: object) -> Random:
        return system_random()


class SeededSources:
    """Time and random numbers that are the same whenever the same requests are sent: for replay and tests.

    Random numbers of a known seed are predictable: do not derive secrets from them.

    Args:
        clock: The time at which the clock of each request begins, with its timezone; that of the system if
            None.
        seed: The seed of random numbers; those of the system if None.

    Raises:
        ValueError: the time has no timezone, or the seed is too long.
    """

    def __init__(self, clock: datetime | None = None, seed: str | None = None) -> None:
        if clock is not None and clock.tzinfo is None:
            raise ValueError(f"the time {clock.isoformat()} has no timezone: add Z for UTC")
        if seed is not None and len(seed) > LONGEST_SEED:
            raise ValueError(f"the seed has {len(seed)} characters; at most {LONGEST_SEED} are allowed")
        self._start = None if clock is None else clock.astimezone(UTC)
        self._seed = seed

    def clock(self, request_id: object) -> Clock:
        return _SYSTEM_CLOCK if self._start is None else TickingClock(self._start)

    def random(self, request_id: object) -> Random:
        if self._seed is None:
            return system_random()
        from random import Random

        return Random(f"{self._seed}\n{request_id!r}")


_SYSTEM_CLOCK: Final = SystemClock()
SYSTEM: Final = SystemSources()


def sources_from(environment: Mapping[str, str]) -> Sources:
    """Sources with the seeds in `ASSAY_CLOCK` and `ASSAY_RANDOM_SEED`; those of the system without them.

    Raises:
        ValueError: a variable has an invalid value.
    """
    clock, seed = environment.get(CLOCK) or None, environment.get(RANDOM_SEED) or None
    if clock is None and seed is None:
        return SYSTEM
    try:
        return SeededSources(None if clock is None else datetime.fromisoformat(clock), seed)
    except ValueError as error:
        raise ValueError(f"{CLOCK} and {RANDOM_SEED}: {error}") from None
