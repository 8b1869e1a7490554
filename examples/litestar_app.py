"""An MCP server mounted in a Litestar application.

uvicorn examples.litestar_app:app --timeout-graceful-shutdown 5
"""

from typing import Any

from litestar import Litestar, asgi, get

from assay import Context, Server

server = Server("litestar", version="1.0.0")


@server.tool
async def count(to: int, ctx: Context) -> str:
    """Count, and report progress."""
    for number in range(to):
        await ctx.progress(number + 1, total=to)
    return f"counted to {to}"


application = server.asgi(path=None)  # Litestar has already routed the request


@asgi("/mcp", is_mount=True, copy_scope=True)
async def mcp(scope: Any, receive: Any, send: Any) -> None:
    await application(scope, receive, send)


@get("/health")
async def health() -> dict[str, str]:
    return {"status": "ok"}


app = Litestar(
    [mcp, health],
    lifespan=[application.lifespan],
    logging_config=None,  # leave the logging of the process alone
)
