"""How a client tries again: the policy of the user, and the pauses that follow from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from assay.model.client_error import ClientError, ConnectionFailed, HttpFailure, ServerDied

BUSY: Final = frozenset({429, 502, 503, 504})
"""HTTP statuses of a server or proxy that may work again soon."""
MOST_DIGITS: Final = 6
"""Of a Retry-After in seconds."""


class Retry(Struct, frozen=True, kw_only=True):
    """How often and how long a client tries again. Pass it as `Client(…, retry=Retry(…))`.

    Between two attempts there is a pause that grows: `first`, then `factor` times as long, at most `longest`,
    each shortened at random by up to a half, so that many clients do not come back at the same moment.
    """

    opening: float = 0.0
    """Seconds to try again when the client is opened. With 0, an address that does not answer is an error at
    once; a larger number waits for a server that is starting."""

    deadline: float = 10.0
    """Seconds to try again when a connection was lost, or the server is busy; counted from the first
    failure of a call. 0 disables it."""

    first: float = 0.1
    """Seconds before the second attempt."""

    factor: float = 2.0
    longest: float = 5.0
    """Seconds between two attempts, at most."""

    restarts: int = 1
    """How often a process that died is started again, in a row."""

    settled: float = 60.0
    """Seconds after which a process counts as stable: the restarts before it are forgotten."""

    jitter: Callable[[], float] | None = None
    """Random numbers from 0 to 1; for tests."""

    def __post_init__(self) -> None:
        for name in ("opening", "deadline", "first", "longest", "restarts", "settled"):
            if getattr(self, name) < 0:
                raise ValueError(f"Retry.{name} must not be negative: {getattr(self, name)}")
        if self.factor < 1:
            raise ValueError(f"Retry.factor must be at least 1: {self.factor}")

    def pause(self, number: int) -> float:
        """Seconds before an attempt; the first retry has number 0."""
        seconds = min(self.first * self.factor ** min(number, 64), self.longest)
        return seconds * (1 - 0.5 * (self.jitter or _random())())


class Backoff:
    """The pauses before further attempts, until a number of seconds has passed."""

    __slots__ = ("_clock", "_end", "_number", "_policy")

    def __init__(self, policy: Retry, seconds: float, clock: Callable[[], float]) -> None:
        self._policy = policy
        self._clock = clock
        self._end = clock() + seconds
        self._number = 0

    def next(self, least: float = 0.0) -> float | None:
        """Seconds to wait, at least as many as the server demands; None if there is no time left for it."""
        pause = max(self._policy.pause(self._number), least)
        self._number += 1
        return pause if self._clock() + pause < self._end else None


def may_pass(error: ClientError) -> bool:
    """Whether the failure to open a session may be over soon."""
    if isinstance(error, HttpFailure):
        return error.status in BUSY
    return isinstance(error, ServerDied) or (isinstance(error, ConnectionFailed) and error.unsent)


def may_repeat(error: ClientError, *, idempotent: bool) -> bool:
    """Whether a request that failed may be sent again: it has not reached the server, or has no effect."""
    if isinstance(error, HttpFailure):
        return idempotent and error.status in BUSY
    return isinstance(error, ConnectionFailed) and (idempotent or error.unsent)


def demanded_pause(error: ClientError) -> float:
    """The seconds of a Retry-After; dates are ignored."""
    text = error.headers.get("retry-after", "") if isinstance(error, HttpFailure) else ""
    return float(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else 0.0


def _random() -> Callable[[], float]:
    from random import random  # takes a while to import, and most clients never need it

    return random
