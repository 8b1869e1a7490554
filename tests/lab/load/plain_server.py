"""A server with one tool, which reports no progress."""

from assay import Server

server = Server("plain")


@server.tool(annotations={"readOnlyHint": True})
async def add(a: int, b: int) -> int:
    """Adds two numbers"""
    return a + b
