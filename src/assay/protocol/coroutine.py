"""A coroutine taken one step by hand.

Most coroutines on the way of a call finish in their first step. Whoever steps them by hand learns
that before anything is set up for a wait: no timer, no registration. One that did suspend goes on
inside `SuspendedCoroutine`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from typing import Any


class SuspendedCoroutine:
    """The rest of a coroutine that was stepped by hand and suspended; await it for the outcome.

    Await it in the task that took the first step: a coroutine may have asked which one that was. If that
    step was taken in a context of its own, the others are, too.
    """

    __slots__ = ("_context", "_coroutine", "_waiting_for")

    def __init__(
        self, coroutine: Coroutine[Any, Any, Any], waiting_for: Any, context: Context | None = None
    ) -> None:
        self._coroutine = coroutine
        self._waiting_for = waiting_for
        self._context = context

    def __await__(self) -> Generator[Any, Any, Any]:
        coroutine, waiting_for, context = self._coroutine, self._waiting_for, self._context
        while True:
            try:
                sent = yield waiting_for
            except GeneratorExit:
                coroutine.close()
                raise
            except BaseException as error:
                # Whatever the event loop throws belongs to the coroutine.
                step: Callable[[Any], Any] = coroutine.throw
                given: Any = error
            else:
                step, given = coroutine.send, sent
            try:
                waiting_for = step(given) if context is None else context.run(step, given)
            except StopIteration as returned:
                return returned.value
