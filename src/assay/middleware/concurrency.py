"""How many requests are served at once: in all, or of each caller."""

from __future__ import annotations

from collections.abc import Hashable

from assay.model.error import RegistrationError
from assay.server.handlers.concurrency import ConcurrencyLimit
from assay.server.middleware.call import MiddlewareCall, Next, Result


class _Shared:
    """A limit, and how many requests use it or wait for it."""

    __slots__ = ("limit", "users")

    def __init__(self, limit: ConcurrencyLimit) -> None:
        self.limit = limit
        self.users = 0


class Concurrency:
    """Serves a number of requests at once; others wait, and callers take turns.

    One place in eight is reserved for callers that hold few, as with `Limits.concurrency`. Listen streams do
    not count: they stay open.

    Args:
        size: How many requests are served at once.
        per_caller: Whether this is the number for each caller: its principal, address or connection.
        backlog: How many may wait, in all or for each caller. Further ones are refused as busy.
    """

    def __init__(self, size: int, *, per_caller: bool = False, backlog: int = 1024) -> None:
        """
        Raises:
            RegistrationError: a number is too small.
        """
        if size < 1 or backlog < 0:
            raise RegistrationError(f"Concurrency: size must be at least 1 and backlog 0: {size}, {backlog}")
        self._size = size
        self._backlog = backlog
        self._per_caller = per_caller
        self._limits: dict[Hashable, _Shared] = {}

    async def __call__(self, call: MiddlewareCall, next: Next[Result]) -> Result:
        if call.method == "subscriptions/listen":
            return await next(call)
        caller = call.scope.client_key
        key = caller if self._per_caller else None
        shared = self._limits.setdefault(key, _Shared(ConcurrencyLimit(self._size, self._backlog)))
        shared.users += 1
        try:
            return await self._serve(call, next, shared.limit, caller)
        finally:
            shared.users -= 1
            if not shared.users:
                del self._limits[key]

    async def _serve(
        self, call: MiddlewareCall, next: Next[Result], limit: ConcurrencyLimit, caller: Hashable
    ) -> Result:
        inner = call.server_call
        inner.is_waiting = not limit.available
        # The reserve is for other callers: among the requests of one, each counts for itself.
        slot = await limit.wait_and_acquire(inner if self._per_caller else caller)
        inner.stop_waiting()
        try:
            return await next(call)
        finally:
            slot.release()
