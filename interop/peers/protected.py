"""A server where one tool takes more than the other: for clients that must ask for more on the way.

Served with `assay serve interop/peers/protected.py --auth …`.
"""

from assay import Context, Server

server = Server("interop-protected", version="1.0.0")


@server.tool
async def look(ctx: Context) -> str:
    """Takes what everything here takes"""
    return f"granted {' '.join(sorted(ctx.scopes or ()))}"


@server.tool(scopes=["write"])
async def change(ctx: Context) -> str:
    """Takes the scope `write` as well"""
    return f"changed by {ctx.principal}"
