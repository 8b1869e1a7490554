"""All limits of a client: what a server can make it hold or wait for."""

from __future__ import annotations

from msgspec import Struct

from .limits import Limits


class ClientLimits(Struct, frozen=True, kw_only=True):
    """Limits of a client. Pass one as `Client(…, limits=ClientLimits(…))`."""

    message_bytes: int = 16 * 1024 * 1024
    """Size of one message from the server: a line, a body, an event, a WebSocket message."""

    depth: int = 64
    """Nesting of objects and arrays in a message."""

    head_bytes: int = 64 * 1024
    """Size of the head of an HTTP response."""

    pages: int = 250
    """Pages of one list."""

    items: int = 100_000
    """Entries of one list, over all pages."""

    list_bytes: int = 64 * 1024 * 1024
    """Size of one list, over all pages."""

    schema_bytes: int = 256 * 1024
    """Size of an output schema that results are checked against."""

    cache_bytes: int = 16 * 1024 * 1024
    """Size of all results that are stored for reuse; the oldest ones make room."""

    rounds: int = 10
    """How often the server may answer one request with questions."""

    questions: int = 64
    """Questions of the server that are answered at the same time, until their replies are sent, together at
    most `message_bytes`; further ones are refused. Also the questions in one result."""

    notices: int = 1000
    """Notifications that wait for an asynchronous callback; further ones, and those beyond 1 MiB, are
    dropped, with a warning."""

    connections: int = 100
    """HTTP connections for calls at the same time; further calls wait."""

    redirects: int = 5
    """Redirects of one HTTP request, within its origin."""

    stderr_lines: int = 20
    """Last lines of a process's standard error, and stray lines of its output, that errors show."""

    connect_timeout: float = 10.0
    """Seconds to open a connection."""

    probe_timeout: float = 10.0
    """Seconds for a server without HTTP to answer `server/discover`, before the handshake is tried."""

    close_timeout: float = 2.0
    """Seconds for each step of closing: the end of a session, of a process, and of a process after
    SIGTERM."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if getattr(self, name) <= 0:
                raise ValueError(f"limits.{name} must be greater than zero: {getattr(self, name)}")

    @property
    def codec(self) -> Limits:
        return Limits(
            message_bytes=self.message_bytes,
            depth=self.depth,
            inflight_bytes=max(2 * self.message_bytes, Limits().inflight_bytes),
        )
