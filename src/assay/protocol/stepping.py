"""A coroutine taken one step by hand.

Most coroutines on the way of a call finish in their first step. Whoever steps them by hand learns
that before anything is set up for a wait: no timer, no registration. One that did suspend goes on
inside `Resumed`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from typing import Any


class Resumed:
    """The rest of a coroutine that was stepped by hand and suspended; await it for the outcome."""

    __slots__ = ("_coroutine", "_waiting_for")

    def __init__(self, coroutine: Coroutine[Any, Any, Any], waiting_for: Any) -> None:
        self._coroutine = coroutine
        self._waiting_for = waiting_for

    def __await__(self) -> Generator[Any, Any, Any]:
        coroutine, waiting_for = self._coroutine, self._waiting_for
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
                waiting_for = step(given)
            except StopIteration as returned:
                return returned.value
