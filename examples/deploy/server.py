"""The server of the deployment recipes: `assay serve server.py --transport http --workers 4`."""

import os

from assay import Context, Server

# All machines seal with one key; the workers of one machine are given one by their parent.
KEY = os.environb.get(b"SEALING_KEY")
server = Server("deployed", "1.0.0", sealing=[KEY] if KEY else None)


@server.tool
async def worker() -> int:
    """The process that serves this call."""
    return os.getpid()


@server.tool
async def count(ctx: Context) -> int:
    """How often this session has called it, on whichever worker."""
    number: int = ctx.session.get("count", 0) + 1
    ctx.session["count"] = number
    return number


@server.tool
async def steps(number: int, ctx: Context) -> str:
    """Report progress, so that the answer is a stream."""
    for step in range(1, number + 1):
        await ctx.progress(step, number)
    return "done"
