"""Serving a server: as an ASGI application, or as a process of its own by the name of a transport.

Transports and stores are loaded here, when they are needed, and nowhere else in this package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from assay.transport.asgi.app import AsgiApp

    from .server import Server


def make_app(server: Server, **options: Any) -> AsgiApp:
    from assay.store.memory import MemoryEvents, MemorySessions
    from assay.transport.asgi.build import build

    sessions = options.pop("session_store", None) or MemorySessions()
    events = options.pop("event_store", None) or MemoryEvents()
    return build(server, session_store=sessions, event_store=events, **options)


def run(server: Server, transport: str, **options: Any) -> None:
    """
    Raises:
        ValueError: there is no such transport.
    """
    serve = TRANSPORTS.get(transport)
    if serve is None:
        raise ValueError(f"unknown transport: {transport!r}; one of {', '.join(TRANSPORTS)}")
    serve(server, **options)


def _serve_stdio(server: Server, **options: Any) -> None:
    from assay.transport.stdio import serve_stdio

    if options:
        raise TypeError(f"stdio takes no options: {', '.join(options)}")
    serve_stdio(server)


def _serve_http(
    server: Server,
    *,
    host: str = "127.0.0.1",
    port: int = 3000,
    announce: Callable[[str], None] | None = None,
    **options: Any,
) -> None:
    from assay.transport.http_server import serve_http

    serve_http(make_app(server, **options), host=host, port=port, announce=announce)


def _serve_http_plain(server: Server, **options: Any) -> None:
    _serve_http(server, stream="off", **options)


TRANSPORTS: Final[dict[str, Callable[..., None]]] = {
    "stdio": _serve_stdio,
    "http": _serve_http,
    "http-plain": _serve_http_plain,
}
