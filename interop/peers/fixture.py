"""Features that the everything server lacks: lists of several pages, a slow call, a call to interrupt.

Served with `assay serve interop/peers/fixture.py`. A `token` identifies a call, so that a second call can ask
about the first.
"""

import asyncio
from collections import defaultdict

from assay import Context, Server

PAGE = 2
# Longer than any client waits: a call that returns was not cancelled.
LONG = 60.0
# Between two messages of `interrupted`: the second must be sent while no client is connected, and separately
# from the answer, because some clients drop a report that arrives together with it.
GAP = 0.2
# The relay of `interop/relay.py` cuts a connection with this word, once for each token.
CUT = "cut-here"

server = Server("interop-fixture", version="1.0.0", page_size=PAGE)
cancelled: dict[str, asyncio.Event] = defaultdict(asyncio.Event)


@server.tool
async def last(token: str, ctx: Context) -> str:
    """Report progress, then work until cancelled"""
    await ctx.progress(1, message="running")
    try:
        await asyncio.sleep(LONG)
    except asyncio.CancelledError:
        cancelled[token].set()
        raise
    return "this call was not cancelled"


@server.tool
async def await_cancelled(token: str) -> str:
    """Wait until the call of `last` with this token is cancelled"""
    await cancelled[token].wait()
    return "cancelled"


@server.tool
async def interrupted(token: str, ctx: Context) -> str:
    """Report twice; the relay cuts the connection after the first report"""
    await ctx.progress(1, total=2, message=f"{CUT}:{token};")
    await asyncio.sleep(GAP)
    await ctx.progress(2, total=2, message="after the cut")
    await asyncio.sleep(GAP)
    return f"answered after the cut: {token}"


@server.tool
async def fourth() -> str:
    """Fill the second page of the list"""
    return "fourth"


@server.tool
async def fifth() -> str:
    """Start the third page of the list"""
    return "fifth"


@server.resource("fixture://first")
async def first_text() -> str:
    return "first"


@server.resource("fixture://second")
async def second_text() -> str:
    return "second"


@server.resource("fixture://third")
async def third_text() -> str:
    return "third"
