"""The official Python SDK, stateless, with JSON answers."""

from typing import Any

from mcp.server.mcpserver import MCPServer

server = MCPServer("bench", log_level="WARNING")


@server.tool()
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def app() -> Any:
    return server.streamable_http_app(stateless_http=True, json_response=True)


if __name__ == "__main__":
    server.run("stdio")
