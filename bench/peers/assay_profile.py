"""Assay with a tool and a resource, for `assay serve`: what parts of the profile cost is measured on it."""

from assay import Context, Server

server = Server("bench")


@server.tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool
async def note(a: int, b: int, ctx: Context) -> int:
    """Add two numbers, and say that something was done by it."""
    ctx.effect("update", "notes/42", kind="db", after=b"3")
    return a + b


@server.resource("bench://text", mime_type="text/plain")
async def text() -> str:
    """A text of one kilobyte."""
    return "bench " * 170
