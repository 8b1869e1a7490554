"""Putting an ASGI application together from the options that users give."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from assay.protocol.http.policy import LOOPBACK, HttpPolicy, Sessions
from assay.store.port import EventStore, SessionStore
from assay.transport.port import Endpoint

from .app import AsgiApp
from .sessions import HttpSessions


def build(
    endpoint: Endpoint,
    *,
    session_store: SessionStore,
    event_store: EventStore,
    path: str | None = "/mcp",
    stream: Literal["on", "off"] = "on",
    sessions: Literal["optional", "required", "off"] = "optional",
    allowed_hosts: Iterable[str] = LOOPBACK,
    allowed_origins: Iterable[str] = (),
    heartbeat: float = 15.0,
    retry: float = 1.0,
    sweep_interval: float = 60.0,
) -> AsgiApp:
    """One endpoint as an ASGI application.

    - `path`: where it answers; `None` when the surrounding application has already routed.
    - `stream="off"`: plain HTTP, one JSON object per request, no sessions.
    - `sessions`: `optional` mints one on `initialize` and serves requests without one on their own;
      `required` refuses those; `off` mints none, so that any number of workers can share the load.
    - `allowed_hosts`, `allowed_origins`: what `Host` and `Origin` may be; `"*"` for any.
    - `session_store`, `event_store`: where sessions and resumable streams are kept.
    - `heartbeat`: seconds of silence after which a stream carries a comment.
    - `retry`: seconds a client is told to wait before it returns to a stream that was closed early.
    - `sweep_interval`: seconds between looks for sessions that have expired.
    """
    if stream not in ("on", "off"):
        raise ValueError(f'stream must be "on" or "off": {stream!r}')
    if path is not None and not path.startswith("/"):
        raise ValueError(f"path must start with a slash: {path!r}")
    streaming = stream == "on"
    policy = HttpPolicy(
        path=path if path is None else path.rstrip("/"),
        streaming=streaming,
        sessions=Sessions(sessions) if streaming else Sessions.OFF,
        allowed_hosts=tuple(host.lower() for host in allowed_hosts),
        allowed_origins=tuple(allowed_origins),
    )
    live = HttpSessions(endpoint, session_store, event_store, sweep_interval)
    return AsgiApp(endpoint, policy, live, heartbeat=heartbeat, retry=retry)
