"""Coroutines whose first step is taken by hand.

Most coroutines of a call finish in their first step. Taking that step with `send(None)` shows this before a
timer or a task is set up for a wait. A coroutine that did suspend is awaited as a `SuspendedCoroutine`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from typing import Any


def is_closing(error: BaseException) -> bool:
    """Whether an exception, in the frame that caught it, comes from `close()` of that frame's coroutine.

    `close` throws into each frame on its own, so the exception has passed no other frame. A `GeneratorExit`
    that a called function raised has.
    """
    trace = error.__traceback__
    return isinstance(error, GeneratorExit) and (trace is None or trace.tb_next is None)


class SuspendedCoroutine:
    """The rest of a coroutine that suspended in its first step; await it for the result.

    Await it in the task that took the first step: the coroutine may hold a reference to `current_task()`. All
    steps run in `context`, if one is given.
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
                # Exceptions that the event loop throws, such as a cancellation, are for the coroutine.
                step: Callable[[Any], Any] = coroutine.throw
                argument: Any = error
            else:
                step, argument = coroutine.send, sent
            try:
                waiting_for = step(argument) if context is None else context.run(step, argument)
            except StopIteration as returned:
                return returned.value
            finally:
                argument = None  # the traceback of an exception refers to this frame
