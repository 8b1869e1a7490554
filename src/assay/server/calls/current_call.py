"""The call that is being served in the current task or thread, for `current_context`.

Nothing tracks it until `assay.current_context` is imported: servers that do not use it pay nothing.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, Protocol
from weakref import WeakValueDictionary

from assay.protocol.middleware import Serve

from .call import Call


class Cleared(Protocol):
    """Tables of methods; `clear` makes them be built again."""

    def clear(self) -> None: ...


class CurrentCall:
    """What the context variable holds. `with CurrentCall(call)` makes a call the current one; afterwards,
    the previous one is current again. A task or connection may keep this object for longer than the call
    lasts, so it lets go of the call then."""

    __slots__ = ("_token", "call", "loop")

    def __init__(self, call: Call) -> None:
        self.call: Call | None = call
        self.loop = asyncio.get_running_loop()

    def __enter__(self) -> None:
        self._token = CURRENT.set(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.call = None
        try:
            CURRENT.reset(self._token)
        except ValueError:
            pass  # the call began in another context: its first step is taken before it has a task


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


def tracked(serve: Serve) -> Serve:
    """Serves a method; if calls are tracked, as the current call."""
    if not TRACKING.is_on:
        return serve

    async def serve_tracked(call: Call) -> Any:
        with CurrentCall(call):
            return await serve(call)

    return serve_tracked
