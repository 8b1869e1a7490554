"""Running a handler for one request.

Most `async def` handlers never suspend. Their coroutine is stepped once by hand; if it returns, nothing
more is set up: no registration, no timer, no count. Only a handler that suspends is supervised from there
on.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from types import CoroutineType
from typing import Any

from assay.protocol.coroutine import SuspendedCoroutine
from assay.server.calls.call import Call

from .concurrency import ConcurrencyLimit, Slot
from .signature import Signature


class Pending:
    """The outcome of a handler that has suspended; await it at once."""

    __slots__ = ("outcome",)

    def __init__(self, outcome: Awaitable[Any]) -> None:
        self.outcome = outcome


class Invocable:
    """A handler, how to run it, and the limits that it counts against."""

    __slots__ = ("context_name", "context_type", "function", "is_async", "limits", "name")

    def __init__(
        self, function: Callable[..., Any], signature: Signature, limits: tuple[ConcurrencyLimit, ...]
    ) -> None:
        self.function = function
        self.name = signature.name
        self.context_name = signature.context_name or ""
        self.context_type = signature.context_type
        self.limits = limits
        self.is_async = is_async(function)

    async def __call__(self, arguments: dict[str, Any], call: Call) -> Any:
        value = self.begin(arguments, call)
        return await value.outcome if type(value) is Pending else value

    def begin(self, arguments: dict[str, Any], call: Call) -> Any:
        """Start the handler: returns its value, or `Pending` if it has not finished yet."""
        if self.context_type is not None:
            arguments[self.context_name] = self.context_type(call)
        for limit in self.limits:
            if not limit.available:
                call.is_waiting = True
                return Pending(call.supervise(self._wait_and_run(arguments, call)))
        if not self.is_async:
            for limit in self.limits:
                limit.acquire()
            return Pending(call.supervise(self._run_in_thread(arguments, call, self._release)))
        coroutine = self.function(**arguments)
        if type(coroutine) is not CoroutineType:
            return Pending(call.supervise(self._hold_limits(coroutine)))
        try:
            waiting_for = coroutine.send(None)
        except StopIteration as returned:
            return returned.value
        return Pending(call.supervise(self._hold_limits(SuspendedCoroutine(coroutine, waiting_for))))

    def _run_in_thread(
        self, arguments: dict[str, Any], call: Call, release: Callable[[], None]
    ) -> asyncio.Future[Any]:
        """The limits are released by the thread when it has really finished, which may be after the call."""
        pool, client = call.services.thread_pool, call.scope.client_key
        call.is_waiting = pool.is_full
        on_start = call.stop_waiting if call.is_waiting else None
        return pool.run(self.function, arguments, release, on_start=on_start, client=client, name=self.name)

    def _release(self) -> None:
        for limit in self.limits:
            limit.release()

    async def _wait_and_run(self, arguments: dict[str, Any], call: Call) -> Any:
        slots: list[Slot] = []
        client = call.scope.client_key
        try:
            # The narrowest limit first: waiting for it must not occupy a slot that others could use.
            for limit in self.limits:
                slots.append(await limit.wait_and_acquire(client))
            call.stop_waiting()
            if self.is_async:
                return await self.function(**arguments)
            held, slots = slots, []
            return await self._run_in_thread(arguments, call, partial(_release_all, held))
        finally:
            _release_all(slots)

    async def _hold_limits(self, work: Awaitable[Any]) -> Any:
        for limit in self.limits:
            limit.acquire()
        try:
            return await work
        finally:
            self._release()


def _release_all(slots: Iterable[Slot]) -> None:
    for slot in slots:
        slot.release()


def is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object whose __call__ is async is async too
    )
