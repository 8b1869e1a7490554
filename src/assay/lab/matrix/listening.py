"""Starts the HTTP server of a pair on a free port."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

from assay.lab.harness.links.broken_off import NotRunnable, Unreachable
from assay.lab.harness.links.http_call import Address, connect
from assay.lab.harness.subject.process import Process, describe_exit

PATIENCE: Final = 5.0
"""Seconds for one attempt to connect."""
INTERVAL: Final = 0.05


class NotStarted(Exception):
    """The server did not start; the text says why, with its last lines."""


def free_port() -> int:
    """A port that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@asynccontextmanager
async def listening(
    command: Sequence[str],
    url: str,
    environment: Mapping[str, str],
    on_error: Callable[[bytes], None],
    limit: float,
) -> AsyncIterator[Process]:
    """
    Raises:
        NotStarted: it exited, or accepts no connection within `limit` seconds.
    """
    try:
        process = await Process.start(command, on_error=on_error, environment=environment)
    except NotRunnable as reason:
        raise NotStarted(str(reason)) from None
    try:
        process.ignore_output()
        await _accepting(process, Address.of(url), limit)
        yield process
    finally:
        await process.stop(listens=True)


async def _accepting(process: Process, address: Address, limit: float) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + limit
    while True:
        try:
            _, writer = await connect(address, PATIENCE)
        except Unreachable:
            if process.status is not None:
                raise NotStarted(_with_tail(describe_exit(process.status), process)) from None
            if loop.time() > end:
                raise NotStarted(
                    _with_tail(f"nothing listens on {address.authority} after {limit:g} s", process)
                ) from None
            await asyncio.sleep(INTERVAL)
        else:
            writer.close()
            return


def _with_tail(problem: str, process: Process) -> str:
    last = next(reversed(process.tail), "")
    return f"{problem}: {last}" if last else problem
