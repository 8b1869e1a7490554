"""Child processes in process groups that end with their context manager.

On stdio the servers are children of the clients, some in other groups; those exit when their standard input
closes, as the protocol requires.
"""

import asyncio
import os
import re
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from interop.official import Aborted, Exit, tail

START_TIMEOUT = 30.0
STOP_TIMEOUT = 5.0
# A line of a report contains at most the text of an error.
LINE_LIMIT = 1 << 20
ENDPOINT = re.compile(rb"MCP endpoint: (http://localhost:\d+\S*)")


@asynccontextmanager
async def child(
    command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Process]:
    """Start a command with its standard error in `log`, and end its process group afterwards."""
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=errors,
            env={**os.environ, **(environment or {})},
            limit=LINE_LIMIT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        await end_group(process)


async def end_group(process: Process) -> None:
    """Send SIGTERM, wait, then SIGKILL. The group may outlive its leader, so it is killed in any case."""
    try:
        signal_group(process, signal.SIGTERM)
        await asyncio.wait_for(process.wait(), STOP_TIMEOUT)
    except TimeoutError:
        pass
    finally:
        signal_group(process, signal.SIGKILL)
    await process.wait()


def signal_group(process: Process, number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


@asynccontextmanager
async def http_server(
    command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
) -> AsyncIterator[str]:
    """Start an HTTP server and yield its endpoint.

    Raises:
        Aborted: no endpoint was printed in time.
    """
    async with child(command, log, environment) as process:
        assert process.stdout is not None
        try:
            url = await asyncio.wait_for(endpoint(process.stdout), START_TIMEOUT)
        except TimeoutError:
            url = None
        if url is None:
            text = f"the server printed no endpoint: {' '.join(command)}\n{tail(log)}"
            raise Aborted(Exit.SERVER_DID_NOT_START, text.rstrip())
        # Unread output would eventually block the server.
        drain = asyncio.create_task(process.stdout.read())
        try:
            yield url
        finally:
            drain.cancel()


async def endpoint(stdout: asyncio.StreamReader) -> str | None:
    while line := await stdout.readline():
        if match := ENDPOINT.search(line):
            return match[1].decode()
    return None


async def lines_until_end(process: Process, timeout: float) -> tuple[list[str], str]:
    """Read the output of a program until it exits; return the lines and how it failed, if it did."""
    assert process.stdout is not None
    lines: list[str] = []
    try:
        async with asyncio.timeout(timeout):
            while line := await process.stdout.readline():
                lines.append(line.decode(errors="replace"))
            code = await process.wait()
    except TimeoutError:
        return lines, f"the program did not end within {timeout:.0f} s"
    except ValueError:  # raised by asyncio for a line over the limit
        return lines, f"the program printed a line longer than {LINE_LIMIT} bytes"
    return lines, f"the program ended with code {code}" if code else ""
