"""Reports handlers that block the event loop, while they do.

A thread looks at the stack of the loop's thread a few times per second. If a handler is on it, the thread
asks the loop to run a callback. If that does not happen in time, the handler has not returned to the loop,
and its frame shows the line. Calls pay nothing for this, and an idle loop is not woken up.
"""

from __future__ import annotations

import asyncio
import linecache
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from inspect import CO_COROUTINE
from types import FrameType
from typing import Any, Final, NamedTuple

from assay.model.visible import visible_record
from assay.server.components.completer import Completer
from assay.server.components.custom_method import CustomMethod
from assay.server.components.prompt import Prompt
from assay.server.components.resource import Resource
from assay.server.components.tool import Tool
from assay.server.dispatch.exception_details import FRAMEWORK

LOOKS: Final = 2
"""Looks of the thread per allowed time: a handler that blocks one and a half times as long is noticed."""
REPORTS: Final = 100
"""Handlers that are reported at most, each once."""
NAMES: Final[dict[type, Callable[[Any], str]]] = {
    Tool: lambda tool: f"tool {tool.key}",
    Resource: lambda resource: f"resource {resource.key}",
    Prompt: lambda prompt: f"prompt {prompt.key}",
    Completer: lambda completer: f"completion {completer.name}",
    CustomMethod: lambda method: f"method {method.name}",
}

logger = logging.getLogger("assay")
logger.addFilter(visible_record)


class BlockedHandler(NamedTuple):
    """A handler on the stack of a thread, and the line of its function that has not returned yet."""

    name: str
    file: str
    line: int
    function: str

    @property
    def source(self) -> str:
        return linecache.getline(self.file, self.line).strip()


class LoopWatch:
    """Watches the event loop that it was started in.

    Args:
        allowed: Seconds that a handler may take between two awaits that suspend it; None disables the watch.
    """

    def __init__(self, allowed: float | None) -> None:
        self._allowed = allowed
        self._reported: set[str] = set()
        self._thread: WatchThread | None = None

    def start(self) -> None:
        """Watch the running event loop, unless it is already watched."""
        loop = asyncio.get_running_loop()
        if self._allowed is None or (self._thread is not None and self._thread.loop is loop):
            return
        self.stop()
        self._thread = WatchThread(loop, self._allowed, self._report)
        self._thread.start()

    def stop(self) -> None:
        if self._thread is not None:
            self._thread.ended.set()
            self._thread = None

    def _report(self, handler: BlockedHandler) -> None:
        if handler.name in self._reported or len(self._reported) >= REPORTS:
            return
        self._reported.add(handler.name)
        logger.warning(
            "%s has blocked the event loop for more than %g s, in %s, line %d (%s): %s; no other request is "
            "served meanwhile: await code that does not block, or write the handler with `def` to run it in "
            "a thread",
            *(handler.name, self._allowed, handler.file, handler.line, handler.function, handler.source),
        )


class WatchThread(threading.Thread):
    """Looks at the stack of the thread that starts it, which runs the loop."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, allowed: float, report: Callable[[BlockedHandler], None]
    ) -> None:
        super().__init__(name="assay-loop-watch", daemon=True)
        self.loop = loop
        self.ended = threading.Event()
        self._allowed = allowed
        self._report = report
        self._watched = threading.get_ident()

    def run(self) -> None:
        while not self.ended.wait(self._allowed / LOOKS) and not self.loop.is_closed():
            if self._running_handler() is not None and not self._loop_responds():
                handler = self._running_handler()
                if handler is not None:
                    self._report(handler)

    def _running_handler(self) -> BlockedHandler | None:
        frame = sys._current_frames().get(self._watched)
        return None if frame is None else find_handler(frame)

    def _loop_responds(self) -> bool:
        """Whether the loop runs a callback within the allowed time. Also true if that cannot be known."""
        responded = threading.Event()
        begin, used = time.monotonic(), time.process_time()
        try:
            self.loop.call_soon_threadsafe(responded.set)
        except RuntimeError:  # the loop is closed
            self.ended.set()
            return True
        if responded.wait(self._allowed):
            return True
        # A process that was stopped, or got no processor, is late everywhere: the handler is not the cause.
        # If the process has used the processor all the time, a handler has held the interpreter's lock.
        late = time.monotonic() - begin
        return late > 2 * self._allowed and time.process_time() - used < late / 2


def find_handler(frame: FrameType) -> BlockedHandler | None:
    """The handler that runs on a stack, if one does and it is not the framework itself that takes long."""
    name = None
    for outer in reversed(list(_stack(frame))):
        if outer.f_code.co_filename.startswith(FRAMEWORK):
            name = _name_of(outer) or name
        elif name is not None:
            code = outer.f_code
            # An instruction without a line has none to report.
            line = outer.f_lineno or code.co_firstlineno
            return BlockedHandler(name, code.co_filename, line, code.co_qualname)
    return None


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _name_of(frame: FrameType) -> str | None:
    """The name of the component that a frame serves a request with. The methods for that are coroutine
    functions; in others, such as its constructor, it may be incomplete."""
    if not frame.f_code.co_flags & CO_COROUTINE:
        return None
    component = frame.f_locals.get("self")
    name = NAMES.get(type(component))
    return None if name is None else name(component)
