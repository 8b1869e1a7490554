"""Examples as processes of their own, reached over a socket or over pipes."""

import asyncio
import re
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any

import httpx2

from tests.meta.tree import ROOT

GUARD = 20.0
"""Seconds after which a hang is a failure; a process starts in one."""
HEADERS = {"Accept": "application/json, text/event-stream"}


@asynccontextmanager
async def started(
    *command: str, descriptors: Sequence[int] = (), stdin: int | None = asyncio.subprocess.DEVNULL
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run Python with these arguments in the project's directory, and stop it in the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command,
        stdin=stdin,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        pass_fds=descriptors,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        try:
            async with asyncio.timeout(GUARD):
                await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()


@asynccontextmanager
async def uvicorn(app: str, *options: str) -> AsyncIterator[str]:
    """Serve on a socket that listens already: whoever connects early waits in its line."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        command = ("-m", "uvicorn", app, "--fd", str(bound.fileno()), "--log-level", "warning", *options)
        async with started(*command, descriptors=[bound.fileno()]):
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"


@asynccontextmanager
async def assay_serve(target: str, transport: str) -> AsyncIterator[str]:
    """Serve with the command line, and give the endpoint that it announces."""
    command = ("-m", "assay", "serve", target, "--transport", transport, "--port", "0")
    async with started(*command) as process, asyncio.timeout(GUARD):
        assert process.stdout is not None
        async for line in process.stdout:
            if match := re.search(rb"MCP endpoint: (\S+)", line):
                yield match[1].decode()
                return
        raise AssertionError("no endpoint was announced")


def client(headers: Mapping[str, str] = MappingProxyType({}), **options: Any) -> httpx2.AsyncClient:
    # Nothing here speaks TLS: reading the certificates would only take time.
    return httpx2.AsyncClient(
        headers={**HEADERS, **headers}, timeout=GUARD, trust_env=False, verify=False, **options
    )


def request(method: str, params: dict[str, Any] | None = None, number: int = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def tool_call(name: str, /, **arguments: Any) -> dict[str, Any]:
    return request("tools/call", {"name": name, "arguments": arguments})


def initialize(revision: str) -> dict[str, Any]:
    about = {"name": "test", "version": "1"}
    return request("initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": about})


INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
