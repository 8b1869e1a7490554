"""The sample server, which runs on every kind of host."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from assay import Context, Server

server = Server("weather", version="1.0.0")


@dataclass
class Forecast:
    city: str
    days: int
    outlook: str = "sunny"


@server.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(title="Forecast", annotations={"readOnlyHint": True})
async def forecast(city: str, ctx: Context, days: int = 3) -> Forecast:
    await ctx.progress(1, total=days, message="fetching")
    return Forecast(city, days)


@server.resource("notes://{name}", mime_type="text/markdown")
def note(name: str) -> str:
    return f"# {name}"


@server.prompt
def review(code: str, language: str = "python") -> str:
    return f"Please review this {language} code:\n{code}"


app = server.asgi()


def run_in_fastapi() -> None:
    """The same server mounted in a web application with another route."""
    import uvicorn
    from fastapi import FastAPI

    from assay.transport.http1.listening import listen

    host = FastAPI()

    @host.get("/health")
    def health() -> dict[str, bool]:
        return {"ok": True}

    host.mount("/tools", app)
    bound = listen("127.0.0.1", 0)
    announce(f"http://127.0.0.1:{bound.getsockname()[1]}/tools/mcp")
    uvicorn.Server(uvicorn.Config(host, log_level="warning")).run(sockets=[bound])


def announce(url: str) -> None:
    print(url, flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["fastapi"]:
        run_in_fastapi()
    elif sys.argv[1:]:
        server.run(sys.argv[1], port=0, announce=announce)
    else:
        server.run()
