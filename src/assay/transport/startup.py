"""Waiting for a server to start, unless it is asked to stop meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any


async def started_before(stop: Callable[[], Coroutine[Any, Any, object]], starting: Awaitable[None]) -> bool:
    """Wait until the server has started. False if `stop` returns first.

    Raises:
        LifespanFailed: it could not start.
    """
    started, stopped = asyncio.ensure_future(starting), asyncio.ensure_future(stop())
    await asyncio.wait((started, stopped), return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if started.done():
        started.result()
        return True
    started.cancel()
    return False
