"""The client of the official Python SDK."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import client_loop
from mcp import Client, StdioServerParameters


def target_of(transport: str, target: Any) -> Any:
    if transport == "memory":
        import official

        return official.server
    return StdioServerParameters(command=target[0], args=target[1:]) if transport == "stdio" else target


@asynccontextmanager
async def connected(transport: str, target: Any) -> AsyncIterator[client_loop.Call]:
    async with Client(target_of(transport, target)) as client:

        async def call() -> Any:
            return (await client.call_tool("add", {"a": 1, "b": 2})).structured_content

        yield call


if __name__ == "__main__":
    client_loop.run(connected)
