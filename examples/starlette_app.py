"""An MCP server as a route of a Starlette application.

uvicorn examples.starlette_app:app --timeout-graceful-shutdown 5
"""

from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from assay import Context, Server

server = Server("starlette", version="1.0.0")


@server.tool
async def count(to: int, ctx: Context) -> str:
    """Count, and report progress."""
    for number in range(to):
        await ctx.progress(number + 1, total=to)
    return f"counted to {to}"


mcp = server.asgi(path=None)  # Starlette has already routed the request


async def health(request: object) -> JSONResponse:
    return JSONResponse({"status": "ok"})


app = Starlette(routes=[Route("/mcp", mcp), Route("/health", health)], lifespan=mcp.lifespan)
