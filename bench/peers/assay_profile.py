"""Assay with tools and a resource, for `assay serve` with parts of the profile."""

from assay import Context, Server

server = Server("bench")


@server.tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool
async def note(a: int, b: int, ctx: Context) -> int:
    """Add two numbers, and report an effect."""
    ctx.effect("update", "notes/42", kind="db", after=b"3")
    return a + b


@server.resource("bench://text", mime_type="text/plain")
async def text() -> str:
    """A text of one kilobyte."""
    return "bench " * 170
