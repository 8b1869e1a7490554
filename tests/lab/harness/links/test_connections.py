"""Local servers of the lab."""

import asyncio
import os
from collections.abc import Coroutine
from typing import Any

import pytest

from assay.lab.harness.links.connections import Connections


async def ignore(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None: ...


async def run_until_it_only_lets_others_run(coroutine: Coroutine[Any, Any, Any]) -> None:
    """Until a bare `yield`, as in `asyncio.sleep(0)`."""
    while (future := coroutine.send(None)) is not None:
        future._asyncio_future_blocking = False
        await asyncio.wait([future])


async def test_listening_that_is_cancelled_leaves_no_socket() -> None:
    before = os.listdir("/proc/self/fd")
    listening = Connections(ignore).listen()
    await run_until_it_only_lets_others_run(listening)
    assert len(os.listdir("/proc/self/fd")) == len(before) + 1
    with pytest.raises(asyncio.CancelledError):
        listening.throw(asyncio.CancelledError())
    assert len(os.listdir("/proc/self/fd")) == len(before)
