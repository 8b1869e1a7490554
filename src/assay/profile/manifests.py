"""The three manifests: documents that describe what a server offers, readable without MCP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, TypeVar

from assay.protocol.codec import encode
from assay.protocol.middleware import Component, Host
from assay.revisions.registry import HANDSHAKE

from .digests import canonical, digest, digest_of
from .retention import Retention, tier_in
from .versions import Versions

C = TypeVar("C", bound=Component)
Entries = list[dict[str, Any]]
Granted = frozenset[str] | None
"""The scopes of the reader; `None` without authorization, which shows everything."""

LISTS: Final = {"tools": "tools/list", "resources": "resources/list", "prompts": "prompts/list"}
"""The method whose scopes a manifest requires."""
USES: Final = {"tools": "tools/call", "resources": "resources/read", "prompts": "prompts/get"}


class Manifests:
    """Built from the live registries on each request."""

    def __init__(self, host: Host, retention: Retention, versions: Versions) -> None:
        self._host = host
        self._retention = retention
        self._versions = versions
        self._makers: dict[str, Callable[[Granted], Awaitable[Entries]]] = {
            "tools": self._tools,
            "resources": self._resources,
            "prompts": self._prompts,
        }

    async def write(self, kind: str, granted: Granted = None) -> bytes:
        """The manifest in canonical form."""
        return canonical(encode(await self._makers[kind](granted)))

    def needs(self, kind: str) -> tuple[str, ...]:
        """The scopes that the manifest requires."""
        return self._host.method_scopes.get(LISTS[kind], ())

    async def _tools(self, granted: Granted) -> Entries:
        return [
            present(
                name=tool.definition.name,
                title=tool.definition.title,
                description=tool.definition.description,
                scopes=self._scopes("tools", tool),
                inputSchemaHash=digest_of(tool.definition.input_schema),
                annotations=tool.definition.annotations,
            )
            for tool in usable(self._host.tools.registry, granted)
        ]

    async def _resources(self, granted: Granted) -> Entries:
        return [
            present(
                name=resource.definition.name,
                uri=resource.definition.uri,
                description=resource.definition.description,
                mimeType=resource.definition.mime_type,
                scopes=self._scopes("resources", resource),
                retention=self.tier(resource),
            )
            for resource in usable(self._host.resources.registry, granted)
        ]

    async def _prompts(self, granted: Granted) -> Entries:
        entries = []
        for prompt in usable(self._host.prompts.registry, granted):
            version = await self._versions.of(prompt, HANDSHAKE[-1])
            entries.append(
                present(
                    name=prompt.definition.name,
                    version=version.semver,
                    description=prompt.definition.description,
                    digest=version.digest,
                    scopes=self._scopes("prompts", prompt),
                )
            )
        return entries

    def tier(self, resource: Component) -> str:
        definition = resource.definition
        declared = tier_in(definition.meta, f"resource {definition.uri}")
        return declared or self._retention.by_uri(definition.uri)

    def _scopes(self, kind: str, component: Component) -> list[str]:
        return list(dict.fromkeys((*self._host.method_scopes.get(USES[kind], ()), *component.scopes)))


def usable(components: Iterable[C], granted: Granted) -> list[C]:
    """The components that these scopes permit, as in the lists."""
    return [component for component in components if granted is None or granted.issuperset(component.scopes)]


def present(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def etag(body: bytes) -> bytes:
    """A strong entity tag (RFC 9110, 8.8.3)."""
    return b'"%s"' % digest(body).removeprefix("sha256:").encode()
