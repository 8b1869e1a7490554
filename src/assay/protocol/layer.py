"""What every layer around a server's methods knows of a request, whatever else it wants of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from msgspec import Raw

from assay.model.jsonrpc import RequestId
from assay.model.scope import Scope

from .session import Peer, Session

Serve = Callable[[Any], Awaitable[Any]]
"""Serves one request: from a call to its result."""


class LayeredCall(Protocol):
    """One request while it is served."""

    @property
    def id(self) -> RequestId: ...

    @property
    def params(self) -> Raw: ...

    @property
    def decoded_params(self) -> Any: ...

    @property
    def peer(self) -> Peer: ...

    @property
    def scope(self) -> Scope: ...

    @property
    def session(self) -> Session | None: ...
