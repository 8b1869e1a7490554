"""Assay with so many tools; measures the cost of one call inside this process.

Each line on standard input requests a batch of so many calls to the ASGI application, without sockets. The
answer is the CPU time of one call in seconds.
"""

import asyncio
import json
import sys
import time
from typing import Any

from assay import Server

CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}'
HEADERS = [
    (b"host", b"localhost:3000"),
    (b"content-type", b"application/json"),
    (b"accept", b"application/json, text/event-stream"),
    (b"mcp-protocol-version", b"2025-11-25"),
    (b"content-length", b"%d" % len(CALL)),
]
SCOPE = {"type": "http", "method": "POST", "path": "/mcp", "root_path": "", "headers": HEADERS}
REQUEST = {"type": "http.request", "body": CALL, "more_body": False}


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def build(count: int) -> Server:
    """The tool that is called is registered last, so that a linear search would show."""
    server = Server("bench")
    for number in range(count - 1):
        server.tool(name=f"add_{number}")(add)
    server.tool(add)
    return server


async def run_batch(app: Any, calls: int) -> float:
    sent: list[Any] = []

    async def receive() -> Any:
        return REQUEST

    async def send(message: Any) -> None:
        sent.append(message)

    begin = time.process_time()
    for _ in range(calls):
        sent.clear()
        await app(dict(SCOPE), receive, send)
    spent = time.process_time() - begin
    answer = json.loads(sent[-1]["body"])
    assert answer["result"]["structuredContent"] == {"result": 3}, answer
    return spent / calls


async def main() -> None:
    app = build(int(sys.argv[1])).asgi()
    await run_batch(app, 200)
    print("ready", flush=True)
    while line := sys.stdin.readline():
        print(await run_batch(app, int(line)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
