"""The client of Assay."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import client_loop

from assay import Client, Stdio


def target_of(transport: str, target: Any) -> Any:
    if transport == "memory":
        import assay_async

        return assay_async.server
    return Stdio(*target) if transport == "stdio" else target


@asynccontextmanager
async def connected(transport: str, target: Any) -> AsyncIterator[client_loop.Call]:
    async with Client(target_of(transport, target)) as client:

        async def call() -> Any:
            return (await client.call("add", a=1, b=2)).structured

        yield call


if __name__ == "__main__":
    client_loop.run(connected)
