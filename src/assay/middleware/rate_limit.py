"""A rate for each caller, by token buckets: a bucket fills with the rate, and each request takes a token."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from math import ceil
from time import monotonic
from typing import Final, Protocol

from msgspec import Struct

from assay.model.error import Busy, RegistrationError, StoreAway
from assay.protocol.principal import digest
from assay.server.middleware.call import MiddlewareCall, Next, Result

ROUNDING: Final = 1e-9
"""Part of a token that the sums of many fractions may differ by."""


class Buckets(Protocol):
    """Token buckets of several processes: the `limits` of a store."""

    async def take(self, key: str, rate: float, burst: float) -> float: ...


class _Bucket(Struct):
    tokens: float
    filled_at: float


class RateLimit:
    """Refuses requests of a caller that exceeds a rate, with error -31004, and over HTTP with status 503 and
    `Retry-After`.

    A caller is its principal; without one, its address; without that, its connection.

    Args:
        requests: How many requests are allowed in each period.
        per: The length of the period in seconds.
        burst: How many requests are allowed at once, after a pause; by default those of one period.
        shared: Count the requests at all processes that use the server's store. Each one then takes a step in
            the store. While that is away, each process counts on its own.
        callers: How many callers are remembered. The one that has been silent for longest is forgotten first.
        key: Returns what identifies the caller of a request, instead.
        clock: Returns seconds.
    """

    def __init__(
        self,
        requests: float,
        *,
        per: float = 1.0,
        burst: int | None = None,
        shared: bool = False,
        callers: int = 10_000,
        key: Callable[[MiddlewareCall], Hashable] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """
        Raises:
            RegistrationError: a number is not positive.
        """
        burst = max(1, ceil(requests)) if burst is None else burst
        for name, value in {"requests": requests, "per": per, "burst": burst, "callers": callers}.items():
            if value <= 0:
                raise RegistrationError(f"RateLimit: {name} must be greater than 0: {value}")
        self._rate = requests / per
        self._burst = burst
        self._is_shared = shared
        self._callers = callers
        self._key = key or _caller
        self._clock = clock
        self._buckets: OrderedDict[Hashable, _Bucket] = OrderedDict()
        self._reason = f"rate limit exceeded: {requests:g} in {per:g} s"

    async def __call__(self, call: MiddlewareCall, next: Next[Result]) -> Result:
        store = call.server_call.services.server.store if self._is_shared else None
        key = self._key(call)
        seconds = self._take(key) if store is None else await self._take_everywhere(key, store.limits)
        if seconds:
            raise Busy(self._reason, retry_after=round(seconds, 3))
        return await next(call)

    async def _take_everywhere(self, key: Hashable, limits: Buckets) -> float:
        name = digest([repr(key), self._rate, self._burst])
        try:
            return await limits.take(name, self._rate, self._burst)
        except StoreAway:
            return self._take(key)

    def _take(self, key: Hashable) -> float:
        """Take a token; if there is none, the seconds until there is one."""
        bucket = self._fill(key)
        if bucket.tokens >= 1 - ROUNDING:
            bucket.tokens -= 1
            return 0.0
        return max((1 - bucket.tokens) / self._rate, 0.001)

    def _fill(self, key: Hashable) -> _Bucket:
        now = self._clock()
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = _Bucket(self._burst, now)
            if len(self._buckets) > self._callers:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(key)
            bucket.tokens = min(self._burst, bucket.tokens + (now - bucket.filled_at) * self._rate)
            bucket.filled_at = now
        return bucket


def _caller(call: MiddlewareCall) -> Hashable:
    return call.scope.client_key
