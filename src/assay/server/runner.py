"""Running a server: as an ASGI application, or as a process by the name of a transport.

Transports and stores are imported here, when they are needed, and nowhere else in this package.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, Protocol, Unpack

if TYPE_CHECKING:
    from assay.protocol.http.asgi import Application
    from assay.protocol.middleware import Middleware
    from assay.transport.asgi.build import HttpOptions
    from assay.transport.port import Endpoint

    class Runnable(Endpoint, Protocol):
        """A server, as far as it takes to run one."""

        @property
        def middlewares(self) -> tuple[Middleware, ...]: ...

        @property
        def auth(self) -> AuthProvider | None: ...


class AuthProvider(Protocol):
    """Protects a server's HTTP application; `assay.auth.Auth` is one."""

    def protect(self, app: Application, /) -> Application: ...


def make_app(server: Runnable, **options: Unpack[HttpOptions]) -> Application:
    from assay.store.memory import MemoryEvents, MemorySessions
    from assay.transport.asgi.build import build

    # Not `setdefault`, which would create a store even if there is one.
    if "session_store" not in options:
        options["session_store"] = MemorySessions()
    if "event_store" not in options:
        options["event_store"] = MemoryEvents(total_bytes=server.limits.event_bytes)
    app: Application = build(server, **options)
    for middleware in reversed(server.middlewares):
        app = middleware.publish(app)
    return app if server.auth is None else server.auth.protect(app)


def run(server: Runnable, transport: str, **options: Any) -> None:
    """
    Raises:
        ValueError: the transport is unknown.
    """
    serve = TRANSPORTS.get(transport)
    if serve is None:
        raise ValueError(f"unknown transport: {transport!r}; one of {', '.join(TRANSPORTS)}")
    serve(server, **options)


def _serve_stdio(server: Runnable, **options: Any) -> None:
    from assay.transport.stdio import serve_stdio

    if options:
        raise TypeError(f"stdio takes no options: {', '.join(options)}")
    serve_stdio(server)


def _serve_http(
    server: Runnable,
    *,
    host: str = "127.0.0.1",
    port: int = 3000,
    announce: Callable[[str], None] | None = None,
    tls_cert: str | PathLike[str] | None = None,
    tls_key: str | PathLike[str] | None = None,
    tls_client_ca: str | PathLike[str] | None = None,
    **options: Any,
) -> None:
    from assay.transport.http1.server import serve_http
    from assay.transport.http1.tls import make_context

    tls = make_context(tls_cert, tls_key, tls_client_ca)
    app = make_app(server, **options)
    limits, budget = server.limits, server.byte_budget
    serve_http(app, host=host, port=port, limits=limits, announce=announce, tls=tls, budget=budget)


def _serve_http_plain(server: Runnable, **options: Any) -> None:
    _serve_http(server, stream="off", **options)


def _serve_ws(server: Runnable, *, announce: Callable[[str], None] | None = None, **options: Any) -> None:
    """Serves HTTP as well; what is announced is the WebSocket endpoint."""

    def announce_socket(url: str) -> None:
        if announce is not None:
            announce(f"ws{url.removeprefix('http').rstrip('/')}/ws")

    _serve_http(server, websocket="on", announce=announce_socket, **options)


TRANSPORTS: Final[dict[str, Callable[..., None]]] = {
    "stdio": _serve_stdio,
    "http": _serve_http,
    "http-plain": _serve_http_plain,
    "ws": _serve_ws,
}
