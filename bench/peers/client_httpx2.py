"""httpx2 alone: it posts the bytes of one call, and msgspec decodes the answer. No client on it is faster."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import client_loop
import httpx2
import msgspec

CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}'
HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
}


@asynccontextmanager
async def connected(transport: str, target: Any) -> AsyncIterator[client_loop.Call]:
    async with httpx2.AsyncClient(headers=HEADERS) as client:

        async def call() -> Any:
            answer = await client.post(target, content=CALL)
            return msgspec.json.decode(answer.content)["result"]["structuredContent"]

        yield call


if __name__ == "__main__":
    client_loop.run(connected)
