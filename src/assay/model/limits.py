"""All limits of a server, with defaults for a small service."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True, kw_only=True):
    """Limits of a server: sizes, timeouts, concurrency. Pass one as `Server(limits=Limits(...))`."""

    message_bytes: int = 4 * 1024 * 1024
    """Size of one message: a line on stdio, a body on HTTP. The official SDKs accept 4 MiB."""

    depth: int = 64
    """Nesting of objects and arrays in a message."""

    batch: int = 100
    """Messages in a batch, in the revision with batches."""

    concurrency: int = 512
    """Handlers that run at once in the whole server; others wait in a queue."""

    backlog: int = 4096
    """Length of that queue; further requests are refused as busy."""

    threads: int = 40
    """Threads for `def` handlers."""

    spare_threads: int = 40
    """Threads beyond these: they replace threads whose handler still runs although its call has ended, and
    serve clients that have none while others occupy all."""

    idle_timeout: float | None = 300.0
    """Seconds without activity before a handler is cancelled. Progress, log messages and `ctx.keep_alive()`
    count as activity. None disables the timeout."""

    blocked_loop: float | None = 0.2
    """Seconds that an `async def` handler may block the event loop before the log names it, where that is
    watched: in debug mode and by `assay serve`. None disables the watch."""

    body_timeout: float = 30.0
    """Seconds to receive an HTTP body or a WebSocket message."""

    body_share: float = 0.25
    """Part of the server's time that HTTP bodies and WebSocket messages of more than 64 KiB, frames and new
    connections of one client may take. A client that has used it waits, at most for `body_timeout`. 1
    disables the wait."""

    head_bytes: int = 64 * 1024
    """Size of the head of an HTTP request, and of chunk headers and trailers."""

    head_timeout: float = 10.0
    """Seconds to receive the head of an HTTP request."""

    keep_alive: float = 75.0
    """Seconds that an idle HTTP connection stays open between two requests."""

    write_timeout: float = 30.0
    """Seconds that a client may leave data unread before it is disconnected."""

    connections: int = 10_000
    """Open HTTP connections; further ones are refused."""

    unread_bytes: int = 16 * 1024 * 1024
    """Bytes queued for a WebSocket client, beyond the message being sent, before it is disconnected."""

    inflight_bytes: int = 256 * 1024 * 1024
    """Bytes held for all HTTP and WebSocket clients together: messages over 16 KiB from their arrival to
    their answer, and unread answers. A client may hold as much as is free. At least twice `message_bytes`."""

    ping_interval: float | None = 20.0
    """Seconds of silence before a WebSocket client is pinged. None disables pings."""

    ping_timeout: float = 20.0
    """Seconds to wait for the pong before the client is disconnected."""

    sessions: int = 10_000
    """Sessions over HTTP. When it is reached, idle sessions of the clients with the most make room for those
    of others; a client that already has its share is refused."""

    session_bytes: int = 64 * 1024 * 1024
    """Bytes that all sessions together keep: what clients declared, their subscriptions, and
    `Context.session` data."""

    client_bytes: int = 1024
    """Bytes of `clientInfo` and `capabilities` that a session keeps. Of longer ones it keeps name, version
    and what the server uses, and the rest as far as it fits: icons last."""

    event_bytes: int = 64 * 1024 * 1024
    """Bytes of sent messages that are stored for clients which resume a stream."""

    request_ids: int = 1000
    """Ids per session that `Strictness.unique_ids` remembers, the newest ones."""

    request_id_bytes: int = 128 * 1024
    """Bytes of these ids, with about 100 for each. They count against `session_bytes`."""

    subscriptions: int = 1000
    """Resource subscriptions per session."""

    subscription_bytes: int = 128 * 1024
    """Bytes of the URIs of these subscriptions."""

    kept_bytes: int = 64 * 1024
    """Bytes of `Context.session` data per client."""

    principals: int = 10_000
    """Principals with `Context.session` data but no session; the least recently seen are dropped first."""

    listeners: int = 1000
    """Open `subscriptions/listen` streams of the whole server."""

    tasks: int = 10_000
    """Tasks in the store, running and finished. When it is reached, further ones are refused as busy."""

    client_tasks: int = 1000
    """The same for one principal, where callers are authenticated."""

    task_bytes: int = 64 * 1024 * 1024
    """Bytes that all tasks keep: arguments, results, questions and answers. A task whose result does not fit
    fails."""

    task_ttl: float = 3600.0
    """Seconds from its creation that a task is kept, at most and by default."""

    request_state: float = 900.0
    """Seconds to answer a question, in revisions where the client answers with a retry."""

    drain: float = 3.0
    """Seconds for running handlers to finish when the server stops."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"limits.{name} must be greater than zero: {value}")
