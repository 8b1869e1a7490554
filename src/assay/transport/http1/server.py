"""Serve an application on a socket until the process is asked to stop."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final

from assay.model.error import CannotListen, MissingExtra
from assay.model.limits import Limits
from assay.protocol.byte_budget import ByteBudget
from assay.protocol.http.asgi import Application as Endpoint
from assay.protocol.http.client_address import Network
from assay.protocol.time_share import TimeShares
from assay.transport.startup import started_before

from .accept_errors import AcceptErrors
from .server_state import Application, ServerState
from .stop_signal import StopSignal

BACKLOG: Final = 2048
"""Connections that the kernel holds until they are accepted."""
PASSED: Final = 3
"""The descriptor of a socket that a service manager passes, by the convention of systemd."""
ACCEPTED_AT_ONCE: Final = 100
"""Connections that asyncio accepts in one turn. It also tries, and fails, that often if no more files can be
opened."""


def serve_http(
    app: Endpoint,
    *,
    host: str,
    port: int,
    limits: Limits,
    announce: Callable[[str], None] | None = None,
    tls: ssl.SSLContext | None = None,
    budget: ByteBudget | None = None,
    shares: TimeShares | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM. `announce` is called with the endpoint's URL once the socket listens.

    Raises:
        MissingExtra: httptools is not installed.
        CannotListen: the address cannot be used.
        LifespanFailed: the application could not start.
        SystemExit: with code 130, after Ctrl-C.
    """
    _require_parser()
    bound = listen(host, port)
    scheme = "http" if tls is None else "https"
    url = f"{scheme}://{_display_host(host)}:{bound.getsockname()[1]}{app.policy.path or '/'}"

    async def main() -> bool:
        with StopSignal() as stop:
            if not await started_before(stop.wait, app.start()):
                await app.close()
                return stop.interrupted
            if announce is not None:
                announce(url)
            serving = partial(serve, app, bound, stop.wait, limits=limits, tls=tls, budget=budget)
            try:
                await serving(shares=shares, trusted_proxies=app.policy.trusted_proxies)
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
    budget: ByteBudget | None = None,
    shares: TimeShares | None = None,
    trusted_proxies: Sequence[Network] = (),
) -> None:
    """Serve on a listening socket until `until` returns, then close all connections in an orderly way."""
    from .connection import HttpConnection
    from .tls_listener import TlsListener

    server = ServerState(app, limits, budget, shares, trusted_proxies)
    with AcceptErrors(server.loop, limits.connections) as errors:
        if tls is None:
            listening: Any = await server.loop.create_server(
                lambda: HttpConnection(server), sock=bound, backlog=ACCEPTED_AT_ONCE
            )
            bound.listen(BACKLOG)  # `create_server` has changed it
        else:
            listening = TlsListener(server, bound, tls, errors)
        try:
            await until()
        finally:
            listening.close()
            await server.close(limits.drain)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket: that of a service manager, if it passed one, else a new one."""
    if (os.environ.get("LISTEN_PID"), os.environ.get("LISTEN_FDS")) == (str(os.getpid()), "1"):
        return socket.socket(fileno=PASSED)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio sets TCP_NODELAY only on sockets that say they are TCP.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        raise CannotListen(host, port, error) from error
    return bound


def _display_host(host: str) -> str:
    """The name by which a local client reaches the server, as written in a URL."""
    if ":" in host and host not in ("::", "::1"):
        return f"[{host}]"
    return "localhost" if host in ("127.0.0.1", "localhost", "0.0.0.0", "::", "::1") else host


def _require_parser() -> None:
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
