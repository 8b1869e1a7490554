"""An ASGI application on uvicorn, listening on a socket of its own."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import Any

from assay.model.error import MissingExtra
from assay.transport.asgi.app import AsgiApp


def serve_http(app: AsgiApp, *, host: str, port: int, announce: Callable[[str], None] | None = None) -> None:
    """Serve until the process is told to stop. `announce` gets the endpoint's URL once it listens.

    Raises:
        MissingExtra: uvicorn is not installed.
        OSError: the address cannot be listened on.
        SystemExit: with code 130, after Ctrl-C.
    """
    bound = listen(host, port)
    url = f"http://{_shown(host)}:{bound.getsockname()[1]}{app.policy.path or '/'}"
    try:
        interrupted = _runner()(_serve(app, bound, url, announce))
    finally:
        bound.close()
    if interrupted:
        raise SystemExit(130)


def listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(2048)
    except OSError:
        bound.close()
        raise
    return bound


def _shown(host: str) -> str:
    """The name by which a local client reaches the server, as a URL writes it."""
    if ":" in host and host not in ("::", "::1"):
        return f"[{host}]"
    return "localhost" if host in ("127.0.0.1", "localhost", "0.0.0.0", "::", "::1") else host


def _runner() -> Callable[..., Any]:
    try:
        import uvloop
    except ImportError:
        return asyncio.run
    run: Callable[..., Any] = uvloop.run
    return run


async def _serve(
    app: AsgiApp, bound: socket.socket, url: str, announce: Callable[[str], None] | None
) -> bool:
    """Serve, and say whether Ctrl-C ended it."""
    try:
        import uvicorn
    except ImportError:
        raise MissingExtra('HTTP needs uvicorn: pip install "assay[http]"') from None

    class StoppingServer(uvicorn.Server):
        interrupted = False

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            # uvicorn would raise the signal again in the end; a server that was told to stop ends in order.
            self.force_exit = self.should_exit and sig == signal.SIGINT
            self.should_exit = True
            self.interrupted = sig == signal.SIGINT

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            # Open event streams never end by themselves, and uvicorn would wait for them.
            await app.close()
            await super().shutdown(sockets)

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=5,
    )
    server = StoppingServer(config)
    if announce is not None:
        announce(url)
    await server.serve(sockets=[bound])
    return server.interrupted
