"""What telemetry expects of a server and of its calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Protocol

from msgspec import Raw

from assay.model.jsonrpc import RequestId
from assay.model.scope import Scope
from assay.protocol.session import Peer, Session
from assay.revisions.revision import Revision

Serve = Callable[[Any], Awaitable[Any]]
"""Serves one request: from a call to its result."""


class Call(Protocol):
    """One request while it is served."""

    @property
    def id(self) -> RequestId: ...

    @property
    def params(self) -> Raw: ...

    @property
    def ahead(self) -> Any: ...

    @property
    def peer(self) -> Peer: ...

    @property
    def scope(self) -> Scope: ...

    @property
    def session(self) -> Session | None: ...


class Shelf(Protocol):
    """Tools, prompts or resources by name."""

    @property
    def by_key(self) -> Mapping[str, Any]: ...


class Registry(Protocol):
    @property
    def shelf(self) -> Shelf: ...


class Resources(Registry, Protocol):
    def find(self, uri: str, /) -> tuple[Any, dict[str, str]]: ...


class OwnMethods(Protocol):
    """Those that the server adds to the protocol's."""

    def of(self, revision: Revision, /) -> Iterator[Any]: ...


class Host(Protocol):
    """The server."""

    @property
    def tools(self) -> Registry: ...

    @property
    def prompts(self) -> Registry: ...

    @property
    def resources(self) -> Resources: ...

    @property
    def own_methods(self) -> OwnMethods: ...
