"""The call that is being served in the current task or thread, for `current_context`.

Nothing tracks it until `assay.current_context` is imported: servers that do not use it pay nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Protocol
from weakref import WeakValueDictionary

from assay.protocol.layer import Serve

from .call import Call


class Cleared(Protocol):
    """Tables of methods; `clear` makes them be built again."""

    def clear(self) -> None: ...


class CurrentCall:
    """What the context variable holds. A task or connection may keep it for longer than the call lasts, so it
    lets go of the call then."""

    __slots__ = ("call", "loop")

    def __init__(self, call: Call) -> None:
        self.call: Call | None = call
        self.loop = asyncio.get_running_loop()


CURRENT: Final[ContextVar[CurrentCall]] = ContextVar("assay.current_call")


class Tracking:
    """Whether calls are tracked, in this process."""

    def __init__(self) -> None:
        self.is_on = False
        self._tables: WeakValueDictionary[int, Any] = WeakValueDictionary()

    def start(self) -> None:
        """Track all calls from now on, of every server."""
        self.is_on = True
        for tables in list(self._tables.values()):
            tables.clear()

    def join(self, tables: Cleared) -> None:
        """Have tables cleared when tracking starts."""
        self._tables[id(tables)] = tables


TRACKING: Final = Tracking()


@contextmanager
def as_current(call: Call) -> Iterator[Call]:
    """Make a call the current one; afterwards, the one before is current again."""
    entry = CurrentCall(call)
    token = CURRENT.set(entry)
    try:
        yield call
    finally:
        entry.call = None
        try:
            CURRENT.reset(token)
        except ValueError:
            pass  # the call began in another context: its first step is taken before it has a task


def tracked(serve: Serve) -> Serve:
    """Serves a method; if calls are tracked, as the current call."""
    if not TRACKING.is_on:
        return serve

    async def serve_tracked(call: Call) -> Any:
        with as_current(call):
            return await serve(call)

    return serve_tracked
