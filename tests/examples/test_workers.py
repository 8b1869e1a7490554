"""Two worker processes share the load: any of them answers any message."""

import asyncio
from typing import Any

import httpx2

from assay.revisions.registry import HANDSHAKE
from tests.examples import process

REVISION = HANDSHAKE[-1].date
WORKERS = 2
CONCURRENT = 20


# Every request takes a connection of its own, which any worker may accept.
UNSHARED = httpx2.Limits(max_keepalive_connections=0)


async def call(http: httpx2.AsyncClient, url: str, name: str, **arguments: Any) -> Any:
    headers = {"MCP-Protocol-Version": REVISION}
    answer = await http.post(url, json=process.tool_call(name, **arguments), headers=headers)
    assert answer.status_code == 200
    return answer.json()["result"]["structuredContent"]["result"]


async def test_every_worker_answers() -> None:
    async with (
        asyncio.timeout(process.GUARD),
        process.uvicorn("examples.workers:app", "--workers", str(WORKERS)) as base,
        process.client(limits=UNSHARED) as http,
    ):
        url = f"{base}/mcp"
        seen: set[int] = set()
        while len(seen) < WORKERS:
            seen |= set(await asyncio.gather(*(call(http, url, "process_id") for _ in range(CONCURRENT))))
        squares = await asyncio.gather(*(call(http, url, "square", number=number) for number in range(100)))
        assert squares == [number * number for number in range(100)]
        await shake_hands(http, url)


async def shake_hands(http: httpx2.AsyncClient, url: str) -> None:
    """A client that wants a handshake gets one, and no session that only one worker would know."""
    opened = await http.post(url, json=process.initialize(REVISION))
    assert opened.json()["result"]["protocolVersion"] == REVISION
    assert "mcp-session-id" not in opened.headers
    assert (await http.post(url, json=process.INITIALIZED)).status_code == 202
    stream = await http.get(url, headers={"Accept": "text/event-stream"})
    assert stream.status_code == 405
