"""minimcp; the tool is a `def`, which runs in the event loop. Its plain HTTP transport."""

from typing import Any

import anyio
from minimcp import HTTPTransport, MiniMCP, StdioTransport

mcp = MiniMCP[Any](name="bench")


@mcp.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def app() -> Any:
    return HTTPTransport(mcp).as_starlette("/mcp")


if __name__ == "__main__":
    anyio.run(StdioTransport(mcp).run)
