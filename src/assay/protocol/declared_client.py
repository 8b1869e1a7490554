"""What a session keeps of the `clientInfo` and `capabilities` that its client sent.

The specification bounds neither, and a session lasts long after its request. So everything is kept only up to
a limit. Beyond it, what the server uses is kept first, and the rest as far as it fits.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from assay.model.definition import ClientCapabilities, Implementation

from .codec import encode

NAME_LENGTH: Final = 64
"""Characters of a name or version that are kept in any case."""
USED_MEMBERS: Final = {
    "elicitation": ("form", "url"),
    "sampling": ("tools", "context"),
    "roots": ("listChanged",),
}
"""The members of capabilities that decide what a client may be asked. They are kept in any case."""
OTHER_CAPABILITIES: Final = ("extensions", "experimental")
DESCRIPTION: Final = ("title", "description", "website_url", "icons")
"""For people to read, the longest last: icons may be whole images."""


class DeclaredClient(NamedTuple):
    """A client as it describes itself."""

    capabilities: ClientCapabilities
    client: Implementation
    size: int
    """In bytes, as JSON."""

    @classmethod
    def of(cls, capabilities: ClientCapabilities, client: Implementation) -> DeclaredClient:
        return cls(capabilities, client, declared_size(capabilities, client))

    def bounded(self, limit: int) -> DeclaredClient:
        """The client itself if it is small enough; otherwise what is used, and of the rest what fits."""
        if self.size <= limit:
            return self
        name, version = self.client.name[:NAME_LENGTH], self.client.version[:NAME_LENGTH]
        used = {each: _used_members(getattr(self.capabilities, each), each) for each in USED_MEMBERS}
        smallest = DeclaredClient.of(ClientCapabilities(**used), Implementation(name, version))
        fields: list[tuple[Any, str]] = [
            (self.capabilities, field) for field in (*USED_MEMBERS, *OTHER_CAPABILITIES)
        ]
        fields += [(self.client, field) for field in DESCRIPTION]
        return _fill(smallest, fields, limit - smallest.size)


def declared_size(capabilities: ClientCapabilities, client: Implementation | None) -> int:
    return len(encode((capabilities, client)))


def _fill(smallest: DeclaredClient, fields: list[tuple[Any, str]], left: int) -> DeclaredClient:
    """Add whole fields, in their order of importance, as long as they fit."""
    added: dict[str, Any] = {}
    for source, field in fields:
        value = getattr(source, field)
        size = len(encode({field: value}))
        if value is not None and size <= left:
            added[field] = value
            left -= size
    return DeclaredClient.of(_replace(smallest.capabilities, added), _replace(smallest.client, added))


def _replace(struct: Any, values: dict[str, Any]) -> Any:
    fields = {name: values.get(name, getattr(struct, name)) for name in struct.__struct_fields__}
    return type(struct)(**fields)


def _used_members(declared: dict[str, Any] | None, capability: str) -> dict[str, Any] | None:
    if declared is None:
        return None
    used = ((name, declared[name]) for name in USED_MEMBERS[capability] if name in declared)
    return {name: value if isinstance(value, bool | None) else {} for name, value in used}
