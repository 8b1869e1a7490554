"""The parts of a server that any call may use."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from assay.model.limits import Limits
from assay.model.result import Cache
from assay.protocol.seal import Sealer
from assay.revisions.revision import Revision
from assay.server.calls.running_calls import RunningCalls
from assay.server.calls.state_lookup import ClientStates
from assay.server.feature import Features
from assay.server.handlers.thread_pool import ThreadPool


class ServerExtensions(Protocol):
    """What calls use of `Server.extensions`, which depends on `Call`."""

    @property
    def topics(self) -> Mapping[str, Any]: ...

    def declare(self, declared: dict[str, Any], revision: Revision, call: Any, /) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Services:
    """Shared by all calls of one server. `Call` depends on this value instead of on `Server`, and so does
    everything that serves calls."""

    server: Any
    """The `Server` itself, for `Context.server`; typed there, because `Server` depends on this module."""
    limits: Limits
    features: Features
    extensions: ServerExtensions
    thread_pool: ThreadPool
    sealer: Sealer
    client_states: ClientStates
    cache: Cache
    """How long clients may reuse lists."""
    lifespan_value: Callable[[AbstractEventLoop], Any]
    """Returns what the server's lifespan has yielded, for `Context.lifespan`."""
    dependency_overrides: dict[Callable[..., Any], Callable[..., Any]] = field(default_factory=dict)
    """Dependency functions, and what is called instead of them: see `Server.override`."""
    running: RunningCalls = field(default_factory=RunningCalls)
