"""Assay with its default settings; the tool is an `async def`."""

from typing import Any

from assay import Server

server = Server("bench")


@server.tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def app() -> Any:
    return server.asgi()


if __name__ == "__main__":
    server.run()
