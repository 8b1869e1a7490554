"""Reports of connections that cannot be accepted, because the process may open no more files."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

from assay.model.visible import visible_record

log: Final = logging.getLogger("assay.http")
log.addFilter(visible_record)

OUT_OF_FILES: Final = "socket.accept() out of system resource"
"""asyncio's message. It repeats it with a traceback for each attempt, thousands of times a second. uvloop
reports nothing: it accepts and closes such connections."""
INTERVAL: Final = 60.0
"""Seconds between two reports."""


class AcceptErrors:
    """While entered, replaces asyncio's reports by one line a minute; other errors are handled as before."""

    def __init__(self, loop: asyncio.AbstractEventLoop, connections: int) -> None:
        self._loop = loop
        self._connections = connections
        self._before = loop.get_exception_handler()
        self._next = 0.0

    def __enter__(self) -> AcceptErrors:
        self._loop.set_exception_handler(self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.set_exception_handler(self._before)

    def _handle(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if context.get("message") == OUT_OF_FILES:
            self.report(context.get("exception"))
        elif self._before is None:
            loop.default_exception_handler(context)
        else:
            self._before(loop, context)

    def report(self, error: object) -> None:
        if self._loop.time() >= self._next:
            self._next = self._loop.time() + INTERVAL
            log.error(
                "cannot accept connections: %s (limit: %s). Raise it (`ulimit -n`, LimitNOFILE= of systemd), "
                "or set limits.connections, which is %d, below it.",
                getattr(error, "strerror", error),
                _open_files(),
                self._connections,
            )


def _open_files() -> int | str:
    """How many files the process may open."""
    try:
        import resource
    except ImportError:  # not on Windows
        return "unknown"
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
