"""fastmcp, stateless, with JSON answers."""

from typing import Any

from fastmcp import FastMCP

server = FastMCP("bench")


@server.tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def app() -> Any:
    return server.http_app(path="/mcp", stateless_http=True, json_response=True)


if __name__ == "__main__":
    server.run("stdio", show_banner=False)
