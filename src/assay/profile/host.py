"""What the profile expects of a server, of its calls and of what it offers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from assay.model.effect import Effect
from assay.model.strictness import Strictness
from assay.protocol.layer import LayeredCall
from assay.revisions.revision import Revision


class Call(LayeredCall, Protocol):
    @property
    def effects(self) -> Sequence[Effect]:
        """What it did so far; where it is served again for answers, also what it did before."""

    @property
    def ended(self) -> Exception | None: ...


class Component(Protocol):
    """A tool, a resource or a template."""

    @property
    def definition(self) -> Any: ...

    @property
    def scopes(self) -> tuple[str, ...]: ...


class Prompt(Component, Protocol):
    @property
    def version(self) -> str | None: ...

    async def get(self, arguments: dict[str, str], call: Any, /) -> Any: ...


C = TypeVar("C", bound=Component, covariant=True)


class Components(Protocol[C]):
    """Things by name."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[C]: ...

    def get(self, key: str, /) -> C | None: ...


class Tools(Protocol):
    @property
    def registry(self) -> Components[Component]: ...


class Prompts(Protocol):
    @property
    def registry(self) -> Components[Prompt]: ...


class Resources(Protocol):
    @property
    def registry(self) -> Components[Component]: ...

    @property
    def template_registry(self) -> Components[Component]: ...

    def find(self, uri: str, /) -> tuple[Component, dict[str, str]]: ...


class Host(Protocol):
    """The server."""

    strictness: Strictness

    @property
    def method_scopes(self) -> Mapping[str, tuple[str, ...]]: ...

    @property
    def tools(self) -> Tools: ...

    @property
    def resources(self) -> Resources: ...

    @property
    def prompts(self) -> Prompts: ...

    def direct_call(self, revision: Revision = ..., /) -> Any:
        """The circumstances of a call that comes from code instead of a client."""
