"""Running a server: as an ASGI application, or as a process by the name of a transport.

Transports and stores are imported here, when they are needed, and nowhere else in this package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Unpack

from assay.model.error import StoreAway

if TYPE_CHECKING:
    from assay.protocol.http.asgi import Application
    from assay.store.port import Store
    from assay.transport.asgi.build import HttpOptions, RunOptions

    from .runnable import Once, Runnable


def make_app(server: Runnable, **options: Unpack[HttpOptions]) -> Application:
    from assay.store.memory import MemoryEvents, MemorySessions
    from assay.transport.asgi.build import build

    # Not `setdefault`, which would create a store even if there is one.
    is_shared = server.store is not None and server.store.is_shared
    if not is_shared or "session_store" in options or "event_store" in options:
        own = None if is_shared else server.store
        if "session_store" not in options:
            options["session_store"] = MemorySessions() if own is None else own.sessions
        if "event_store" not in options:
            memory = MemoryEvents(total_bytes=server.limits.event_bytes) if own is None else own.events
            options["event_store"] = memory
    app: Application = build(server, **options)
    for middleware in reversed(server.middlewares):
        app = middleware.publish(app)
    if server.auth is None:
        return app
    return server.auth.protect(app, once=_once(server, server.store) if is_shared and server.store else None)


def _once(server: Runnable, store: Store) -> Once:
    """Notes keys that may be used once by any of the processes that share the store."""

    async def once(key: bytes, expires: float) -> bool:
        from assay.store.port import StoreFull

        await server.start()  # the store with it, where the host of the application has not
        try:
            return await store.replay.add(key, expires)
        except StoreFull as error:
            raise StoreAway(str(error)) from None

    return once


def run(server: Runnable, transport: str, **options: Unpack[RunOptions]) -> None:
    """
    Raises:
        TypeError: an option does not exist.
        ValueError: the transport is unknown.
        CannotListen: the address cannot be used.
    """
    serve = TRANSPORTS.get(transport)
    if serve is None:
        known = f"one of {', '.join(TRANSPORTS)}"
        raise ValueError(f"unknown transport: {transport!r}; {OTHER_NAMES.get(transport, known)}")
    serve(server, options)


def _serve_stdio(server: Runnable, options: RunOptions) -> None:
    from assay.transport.stdio import serve_stdio

    if options:
        names = ", ".join(options)
        raise TypeError(f'stdio takes no options: {names}; name the transport: run("http", …)')
    serve_stdio(server)


def _serve_http(server: Runnable, options: RunOptions) -> None:
    from .http_process import serve_process

    serve_process(server, options, make_app)


def _serve_http_plain(server: Runnable, options: RunOptions) -> None:
    _serve_http(server, {**options, "stream": "off"})


def _serve_ws(server: Runnable, options: RunOptions) -> None:
    """Serves HTTP as well; what is announced is the WebSocket endpoint."""
    announce = options.get("announce")

    def announce_socket(url: str) -> None:
        if announce is not None:
            announce(f"ws{url.removeprefix('http').rstrip('/')}/ws")

    _serve_http(server, {**options, "websocket": "on", "announce": announce_socket})


TRANSPORTS: Final[dict[str, Callable[[Runnable, RunOptions], None]]] = {
    "stdio": _serve_stdio,
    "http": _serve_http,
    "http-plain": _serve_http_plain,
    "ws": _serve_ws,
}
OTHER_NAMES: Final = {
    "streamable-http": 'Streamable HTTP is "http" here',
    "streamable_http": 'Streamable HTTP is "http" here',
    "sse": 'HTTP+SSE, which Streamable HTTP replaced, is not served: use "http"',
    "websocket": 'it is "ws" here',
}
"""Names that other frameworks use, and ours."""
