"""Reports handlers that block the event loop, while they do.

A timer on the loop takes the time again and again. A thread compares it with the clock; if it is too old, the
stack of the loop's thread shows which handler has not returned to the loop, and where.
"""

from __future__ import annotations

import asyncio
import linecache
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final, NamedTuple

from assay.model.visible import visible_record

from .completer import Completer
from .custom_method import CustomMethod
from .exception_details import FRAMEWORK
from .prompt import Prompt
from .resource import Resource
from .tool import Tool

LOOKS: Final = 2
"""Looks of the thread per allowed time: a block is reported after at most one and a half of it."""
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
        self._watching: _Watching | None = None

    def start(self) -> None:
        """Watch the running event loop, unless it is already watched."""
        loop = asyncio.get_running_loop()
        if self._allowed is None or (self._watching is not None and self._watching.loop is loop):
            return
        self.stop()
        self._watching = _Watching(loop, self._allowed, self._report)
        self._watching.start()

    def stop(self) -> None:
        if self._watching is not None:
            self._watching.stop()
            self._watching = None

    def _report(self, frame: FrameType) -> None:
        handler = find_handler(frame)
        if handler is None or handler.name in self._reported or len(self._reported) >= REPORTS:
            return
        self._reported.add(handler.name)
        logger.warning(
            "%s has blocked the event loop for more than %g s, in %s, line %d (%s): %s; no other request is "
            "served meanwhile: await code that does not block, or write the handler with `def` to run it in "
            "a thread",
            *(handler.name, self._allowed, handler.file, handler.line, handler.function, handler.source),
        )


class _Watching:
    """One event loop while it is watched."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, allowed: float, report: Callable[[FrameType], None]
    ) -> None:
        self.loop = loop
        self._allowed = allowed
        self._interval = allowed / LOOKS
        self._report = report
        self._ended = threading.Event()
        self._beat = time.monotonic()
        self._thread_id = threading.get_ident()

    def start(self) -> None:
        self._on_time()
        threading.Thread(target=self._watch, name="assay-loop-watch", daemon=True).start()

    def stop(self) -> None:
        self._ended.set()

    def _on_time(self) -> None:
        self._beat = time.monotonic()
        if not self._ended.is_set():
            self.loop.call_later(self._interval, self._on_time)

    def _watch(self) -> None:
        look, used = time.monotonic(), time.process_time()
        while not self._ended.wait(self._interval) and not self.loop.is_closed():
            last, look = look, time.monotonic()
            used_before, used = used, time.process_time()
            # A process that was stopped, or got no processor, is late everywhere: this says nothing about the
            # handler. If it has used the processor all the time, something has held the interpreter's lock.
            late = look - last
            starved = late > 2 * self._interval and used - used_before < late / 2
            if not starved and look - self._beat > self._allowed:
                self._look()

    def _look(self) -> None:
        frame = sys._current_frames().get(self._thread_id)
        if frame is not None:
            self._report(frame)


def find_handler(frame: FrameType) -> BlockedHandler | None:
    """The handler that runs on a stack, if one does and it is not the framework itself that takes long."""
    name = None
    for outer in reversed(list(_stack(frame))):
        if outer.f_code.co_filename.startswith(FRAMEWORK):
            name = _name_of(outer) or name
        elif name is not None:
            code = outer.f_code
            return BlockedHandler(name, code.co_filename, outer.f_lineno, code.co_qualname)
    return None


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _name_of(frame: FrameType) -> str | None:
    """The name of the component whose method a frame runs."""
    component = frame.f_locals.get("self")
    name = NAMES.get(type(component))
    return None if name is None else name(component)
