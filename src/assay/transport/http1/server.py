"""Serve an application on a socket until the process is asked to stop."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from assay.model.error import MissingExtra
from assay.model.limits import Limits
from assay.protocol.byte_budget import ByteBudget
from assay.protocol.http.asgi import Application as Endpoint
from assay.protocol.http.client_address import Network
from assay.protocol.time_share import TimeShares
from assay.transport.startup import started_before

from .accept_errors import AcceptErrors
from .listeners import Listeners
from .listening import listen
from .observer import Observation
from .server_state import Application, ServerState
from .stop_signal import StopSignal


class Companion(Protocol):
    """What watches a server that is one of several processes: its parent."""

    own_socket: socket.socket

    def attend(self, serving: Served, drain: float) -> Callable[[], None]:
        """Report that the server serves; returns a function to call at its end."""

    def close_sockets(self) -> None:
        """The server accepts no more connections."""


class Served(NamedTuple):
    """What a companion may do with the server."""

    listen_on: Callable[[Sequence[socket.socket]], Awaitable[None]]
    stop: Callable[[], None]


def serve_http(
    app: Endpoint,
    *,
    host: str,
    port: int,
    limits: Limits,
    announce: Callable[[str], None] | None = None,
    tls: ssl.SSLContext | None = None,
    companion: Companion | None = None,
    observation: Observation | None = None,
    budget: ByteBudget | None = None,
    shares: TimeShares | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM. `announce` is called with the endpoint's URL once the socket listens.
    With a companion, this is one of several processes, and listens on a socket of theirs.

    Raises:
        MissingExtra: httptools is not installed.
        CannotListen: the address cannot be used.
        LifespanFailed: the application could not start.
        SystemExit: with code 130, after Ctrl-C.
    """
    require_parser()
    bound = listen(host, port) if companion is None else companion.own_socket
    scheme = "http" if tls is None else "https"
    url = f"{scheme}://{_display_host(host)}:{bound.getsockname()[1]}{app.policy.path or '/'}"
    process = _Process(app, lambda: None if announce is None else announce(url), companion, limits)
    serving = partial(
        serve,
        app,
        bound,
        limits=limits,
        tls=tls,
        budget=budget,
        shares=shares,
        trusted_proxies=app.policy.trusted_proxies,
        observation=observation,
    )
    try:
        interrupted = _runner()(process.run(serving))
    finally:
        bound.close()
    if interrupted:
        raise SystemExit(130)


class _Process:
    """From the start of the application to the signal that ends it."""

    def __init__(
        self, app: Endpoint, announce: Callable[[], None], companion: Companion | None, limits: Limits
    ) -> None:
        self._app = app
        self._announce = announce
        self._companion = companion
        self._limits = limits

    async def run(self, serving: Callable[..., Awaitable[None]]) -> bool:
        """Returns whether Ctrl-C has ended it."""
        with StopSignal() as stop:
            self._stop = stop
            if not await started_before(stop.wait, self._app.start()):
                await self._app.close()
                return stop.interrupted
            try:
                await serving(self._until, attend=self._attend)
            except asyncio.CancelledError:
                if not stop.interrupted:
                    raise
        return stop.interrupted

    async def _until(self) -> None:
        await self._stop.wait()
        if self._companion is not None:
            self._companion.close_sockets()

    def _attend(self, listeners: Listeners) -> Callable[[], None]:
        self._announce()
        if self._companion is None:
            return lambda: None
        return self._companion.attend(Served(listeners.listen_on, self._stop.set), self._limits.drain)


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
    attend: Callable[[Listeners], Callable[[], None]] | None = None,
    observation: Observation | None = None,
) -> None:
    """Serve on a listening socket until `until` returns, then close all connections in an orderly way."""
    server = ServerState(app, limits, budget, shares, trusted_proxies, observation)
    with AcceptErrors(server.loop, limits.connections) as errors:
        listeners = Listeners(server, tls, errors)
        await listeners.listen_on([bound])
        leave = None if attend is None else attend(listeners)
        try:
            await until()
        finally:
            listeners.close()
            bound.close()
            await server.close(limits.drain)
            if leave is not None:
                leave()


def _display_host(host: str) -> str:
    """The name by which a local client reaches the server, as written in a URL."""
    if ":" in host and host not in ("::", "::1"):
        return f"[{host}]"
    return "localhost" if host in ("127.0.0.1", "localhost", "0.0.0.0", "::", "::1") else host


def require_parser() -> None:
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
