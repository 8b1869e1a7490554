"""The client of fastmcp."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import client_loop
from fastmcp import Client
from fastmcp.client.transports import StdioTransport


def target_of(transport: str, target: Any) -> Any:
    if transport == "memory":
        import fast

        return fast.server
    return StdioTransport(target[0], target[1:]) if transport == "stdio" else target


@asynccontextmanager
async def connected(transport: str, target: Any) -> AsyncIterator[client_loop.Call]:
    async with Client(target_of(transport, target)) as client:

        async def call() -> Any:
            return (await client.call_tool("add", {"a": 1, "b": 2})).structured_content

        yield call


if __name__ == "__main__":
    client_loop.run(connected)
