"""Putting an ASGI application together from the options that users give."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypedDict, Unpack

from assay.model.strictness import LENIENT, Strictness
from assay.protocol.http.policy import LOOPBACK, HttpPolicy, Sessions
from assay.store.port import EventStore, SessionStore
from assay.transport.port import Endpoint

from .app import AsgiApp
from .sessions import HttpSessions


class HttpOptions(TypedDict, total=False):
    """What can be chosen about an HTTP endpoint."""

    path: str | None
    """Where it answers, `/mcp` by default; `None` when the surrounding application has already routed."""
    stream: Literal["on", "off"]
    """`off` is plain HTTP: one JSON object per request, no sessions."""
    websocket: Literal["on", "off"]
    """Whether clients may connect by WebSocket, too: at the path, and at `ws` below it; `on` by default."""
    sessions: Literal["optional", "required", "off"]
    """`optional` mints one on `initialize` and serves requests without one on their own; `required`
    refuses those; `off` mints none, so that any number of workers can share the load."""
    allowed_hosts: Iterable[str]
    """What `Host` may be; loopback names by default, `*` for any."""
    allowed_origins: Iterable[str]
    """What `Origin` may be, beside those whose host is allowed; `*` for any."""
    session_store: SessionStore
    """Where sessions are kept; in memory by default."""
    event_store: EventStore
    """Where the messages of resumable streams are kept; in memory by default."""
    heartbeat: float
    """Seconds of silence after which a stream carries a comment; 15 by default."""
    retry: float
    """Seconds a client is told to wait before it returns to a stream that was closed early; 1 by default."""
    sweep_interval: float
    """Seconds between looks for sessions that have expired; 60 by default."""


def build(endpoint: Endpoint, **options: Unpack[HttpOptions]) -> AsgiApp:
    """One endpoint as an ASGI application. Both stores must be given."""
    live = HttpSessions(
        endpoint, options["session_store"], options["event_store"], options.get("sweep_interval", 60.0)
    )
    heartbeat, retry = options.get("heartbeat", 15.0), options.get("retry", 1.0)
    policy = make_policy(options, endpoint.strictness)
    return AsgiApp(endpoint, policy, live, heartbeat=heartbeat, retry=retry)


def make_policy(options: HttpOptions, strictness: Strictness = LENIENT) -> HttpPolicy:
    """
    Raises:
        ValueError: an option has a value that it cannot have.
    """
    unknown = sorted(options.keys() - HttpOptions.__annotations__.keys())
    if unknown:
        known = ", ".join(HttpOptions.__annotations__)
        raise TypeError(f"unknown option: {unknown[0]}; one of {known}")
    path = options.get("path", "/mcp")
    for name in ("stream", "websocket"):
        if (value := options.get(name, "on")) not in ("on", "off"):
            raise ValueError(f'{name} must be "on" or "off": {value!r}')
    if path is not None and not path.startswith("/"):
        raise ValueError(f"path must start with a slash: {path!r}")
    sessions = Sessions(options.get("sessions", "required" if strictness.sessions else "optional"))
    streaming = options.get("stream") != "off"
    return HttpPolicy(
        path=path if path is None else path.rstrip("/"),
        streaming=streaming,
        websocket=options.get("websocket") != "off",
        sessions=sessions if streaming else Sessions.OFF,
        allowed_hosts=tuple(host.lower() for host in options.get("allowed_hosts", LOOPBACK)),
        allowed_origins=tuple(options.get("allowed_origins", ())),
        strictness=strictness,
    )
