"""A server with one tool that needs more scopes, for testing step-up authorization.

Served with `assay serve interop/peers/protected.py --auth …`.
"""

from assay import Context, Server

server = Server("interop-protected", version="1.0.0")


@server.tool
async def look(ctx: Context) -> str:
    """Needs only the scopes of the server"""
    return f"granted {' '.join(sorted(ctx.scopes or ()))}"


@server.tool(scopes=["write"])
async def change(ctx: Context) -> str:
    """Also needs the scope `write`"""
    return f"changed by {ctx.principal}"
