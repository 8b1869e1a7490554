"""What telemetry expects of a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from assay.revisions.revision import Revision


class Components(Protocol):
    """Tools, prompts or resources by name."""

    @property
    def by_key(self) -> Mapping[str, Any]: ...


class Registry(Protocol):
    @property
    def registry(self) -> Components: ...


class Resources(Registry, Protocol):
    def find(self, uri: str, /) -> tuple[Any, dict[str, str]]: ...


class CustomMethods(Protocol):
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
    def custom_methods(self) -> CustomMethods: ...
