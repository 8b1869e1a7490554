"""Middleware around a server's methods, and what it sees of a call and of the server.

`assay.profile` and `assay.telemetry` are middleware. They may not import `assay.server`, so the protocols
that it fulfils for them are declared here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Protocol, TypeVar

from msgspec import Raw

from assay.model.effect import Effect
from assay.model.jsonrpc import RequestId
from assay.model.strictness import Strictness
from assay.protocol.http.asgi import Application
from assay.revisions.revision import Revision

from .scope import Scope
from .session import Peer, Session

Serve = Callable[[Any], Awaitable[Any]]
"""Serves one request: takes its call, returns its result."""


class Ending(Enum):
    """What an exception that ends a request means."""

    FAILED = "failed"
    CANCELLED = "cancelled"
    """The client, the server or the owner of the task has ended it."""
    QUESTION = "question"
    """It is answered with questions."""


class ServedCall(Protocol):
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

    @property
    def effects(self) -> Sequence[Effect]:
        """Effects reported so far; after a retry, those of earlier attempts are included."""

    @property
    def ended(self) -> Exception | None: ...

    def ending_of(self, error: BaseException, /) -> Ending:
        """Classify an exception that ends the request; call this where it was caught."""


class Component(Protocol):
    """A tool, resource, resource template or prompt."""

    @property
    def definition(self) -> Any: ...

    @property
    def scopes(self) -> tuple[str, ...]: ...


class PromptComponent(Component, Protocol):
    @property
    def version(self) -> str | None: ...

    async def get(self, arguments: dict[str, str], call: Any, /) -> Any: ...


C = TypeVar("C", bound=Component, covariant=True)


class ComponentRegistry(Protocol[C]):
    """Components by name, in order of registration."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[C]: ...

    def get(self, key: str, /) -> C | None: ...


class ComponentGroup(Protocol[C]):
    """All components of one kind."""

    @property
    def registry(self) -> ComponentRegistry[C]: ...


class ResourceGroup(ComponentGroup[Component], Protocol):
    @property
    def template_registry(self) -> ComponentRegistry[Component]: ...

    def find(self, uri: str, /) -> tuple[Component, dict[str, str]]: ...


class CustomMethodGroup(Protocol):
    def of(self, revision: Revision, /) -> Iterator[Any]: ...


class Host(Protocol):
    """The server that a middleware has joined."""

    strictness: Strictness

    @property
    def method_scopes(self) -> Mapping[str, tuple[str, ...]]: ...

    @property
    def tools(self) -> ComponentGroup[Component]: ...

    @property
    def resources(self) -> ResourceGroup: ...

    @property
    def prompts(self) -> ComponentGroup[PromptComponent]: ...

    @property
    def custom_methods(self) -> CustomMethodGroup: ...

    def direct_call(self, revision: Revision = ..., /) -> Any:
        """A call made by code in this process instead of a client."""


class Middleware:
    """Base of middleware that needs more than an async function: `server.use(...)` adds an instance.

    A subclass overrides what it needs. `async def __call__(self, call, next)` serves requests like a function
    that is decorated with `Server.middleware`. `wrap` is the faster form under it: it works on the server's
    own call, which has no decoded arguments.
    """

    __slots__ = ()

    def join(self, server: Host, /) -> None:
        """Called once, when the middleware is added to a server."""

    def wrap(self, method: str, serve: Serve, /) -> Serve:
        """Return what serves a method from now on. Called once per method and revision, not per request."""
        return serve

    def publish(self, app: Application, /) -> Application:
        """Return the application that serves HTTP; `app` itself if there is nothing to add."""
        return app

    def changed(self, uri: str | None, /) -> None:
        """Called when a resource was updated, with its URI; without one, when something was registered or
        removed. It may be called from any thread."""
