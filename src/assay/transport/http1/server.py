"""Serving an application on a socket, until the process is told to stop."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

from assay.model.error import MissingExtra
from assay.model.limits import Limits
from assay.protocol.http.asgi import Application as Endpoint

from .house import Application, House
from .stop import Stop


def serve_http(
    app: Endpoint,
    *,
    host: str,
    port: int,
    limits: Limits,
    announce: Callable[[str], None] | None = None,
    tls: ssl.SSLContext | None = None,
) -> None:
    """Serve until the process is told to stop. `announce` gets the endpoint's URL once it listens.

    Raises:
        MissingExtra: httptools is not installed.
        OSError: the address cannot be listened on.
        SystemExit: with code 130, after Ctrl-C.
    """
    _need_parser()
    bound = listen(host, port)
    scheme = "http" if tls is None else "https"
    url = f"{scheme}://{_shown(host)}:{bound.getsockname()[1]}{app.policy.path or '/'}"

    async def main() -> bool:
        with Stop() as stop:
            app.start()
            if announce is not None:
                announce(url)
            try:
                await serve(app, bound, stop.wished, limits=limits, tls=tls)
            except asyncio.CancelledError:
                if not stop.interrupted:
                    raise
        return stop.interrupted

    try:
        interrupted = _runner()(main())
    finally:
        bound.close()
    if interrupted:
        raise SystemExit(130)


async def serve(
    app: Application,
    bound: socket.socket,
    until: Callable[[], Awaitable[object]],
    *,
    limits: Limits,
    tls: ssl.SSLContext | None = None,
) -> None:
    """Serve on a listening socket until something happens; then end what is open, in order."""
    from .connection import Connection

    house = House(app, limits)
    # Until its handshake is done a client is nobody's guest: it gets as much patience as for a head.
    patience = None if tls is None else limits.head_timeout
    listening = await house.loop.create_server(
        lambda: Connection(house), sock=bound, backlog=2048, ssl=tls, ssl_handshake_timeout=patience
    )
    try:
        await until()
    finally:
        listening.close()
        await house.close(limits.drain)


def listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named TCP, or asyncio would not know it for that and leave small messages to wait for each other.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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


def _need_parser() -> None:
    try:
        import httptools  # noqa: F401
    except ImportError:
        raise MissingExtra('HTTP needs httptools: pip install "assay-mcp[http]"') from None


def _runner() -> Callable[..., Any]:
    try:
        import uvloop
    except ImportError:
        return asyncio.run
    run: Callable[..., Any] = uvloop.run
    return run
