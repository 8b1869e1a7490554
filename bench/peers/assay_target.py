"""The server that `bench.hostile` attacks: quick tools and slow ones. The argument is a port."""

import asyncio
import sys
import time

from assay import Server

server = Server("target")


@server.tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool
def add_in_thread(a: int, b: int) -> int:
    """Add two numbers in a thread."""
    return a + b


@server.tool
def slow(seconds: float, padding: str = "") -> str:
    """Block a thread."""
    time.sleep(seconds)
    return "done"


@server.tool
async def wait(seconds: float, padding: str = "") -> str:
    """Wait without blocking."""
    await asyncio.sleep(seconds)
    return "done"


@server.resource("target://watched")
async def watched() -> str:
    return "watched"


if __name__ == "__main__":
    server.run("http", port=int(sys.argv[1]), announce=lambda url: print(url, flush=True))
