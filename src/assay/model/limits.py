"""Every bound of a server in one place. Each has a default that suits a small service."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True, kw_only=True):
    """What a server accepts and how much it does at once."""

    message_bytes: int = 4 * 1024 * 1024
    """One message: a line on stdio, a body on HTTP. 4 MiB is what the official SDKs take."""

    depth: int = 64
    """Nesting of objects and arrays in one message."""

    batch: int = 100
    """Messages in one batch, in the revision that has batches."""

    concurrency: int = 512
    """Handlers running at once in the whole server; the next ones wait their turn."""

    backlog: int = 4096
    """Requests waiting for a turn; beyond that they are refused as busy."""

    threads: int = 40
    """Threads for `def` handlers; asyncio and AnyIO default to the same order of size."""

    idle_timeout: float | None = 300.0
    """Seconds a handler may be silent: progress, a log line or `ctx.keep_alive()` starts them anew."""

    body_timeout: float = 30.0
    """Seconds an HTTP body may take to arrive."""

    head_bytes: int = 64 * 1024
    """The head of one HTTP request, and whatever else comes that is neither head nor body."""

    head_timeout: float = 10.0
    """Seconds an HTTP head may take to arrive."""

    keep_alive: float = 75.0
    """Seconds an HTTP connection may be idle between two requests."""

    write_timeout: float = 30.0
    """Seconds a client may leave unread what was sent to it, before it is cut off."""

    connections: int = 10_000
    """HTTP connections open at once; further ones are refused."""

    unread_bytes: int = 16 * 1024 * 1024
    """What may wait for a WebSocket client to read it, behind the message under way; more cuts it off."""

    ping_interval: float | None = 20.0
    """Seconds of silence after which a WebSocket client is asked for a sign of life; none: never."""

    ping_timeout: float = 20.0
    """Seconds it has to give one, before it is cut off."""

    subscriptions: int = 1000
    """Resource subscriptions of one session."""

    kept_bytes: int = 64 * 1024
    """What handlers keep for one client: choices and positions, not documents."""

    principals: int = 10_000
    """Principals that something is kept for without a session; who was away longest is forgotten first."""

    listeners: int = 1000
    """Open `subscriptions/listen` streams in the whole server."""

    request_state: float = 900.0
    """Seconds a client has to answer what a request asked it, in the revision where it asks by retry."""

    drain: float = 3.0
    """Seconds that running handlers get to finish when the server is told to stop."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"limits.{name} must be greater than zero: {value}")
