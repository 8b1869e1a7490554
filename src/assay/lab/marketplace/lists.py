"""The lists that a server may have, and what of their items stays the same by itself."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

SERVER: Final = "reference --profile intelgraph"
"""Faults in lists are tried where no other trial changes them: what is announced is no drift."""


class Listed(Struct, frozen=True):
    capability: str
    method: str
    key: str
    """Of the items in a result."""
    name: str
    """What items are told apart by."""
    fixed: tuple[str, ...]
    """Fields that define an item. Others may tell of its state, such as when it was changed."""

    @property
    def announced(self) -> str:
        return f"notifications/{self.capability}/list_changed"


_TOLD: Final = ("title", "description")
LISTS: Final = (
    Listed("tools", "tools/list", "tools", "name", (*_TOLD, "inputSchema", "outputSchema", "annotations")),
    Listed("prompts", "prompts/list", "prompts", "name", (*_TOLD, "arguments")),
    Listed("resources", "resources/list", "resources", "uri", (*_TOLD, "name", "mimeType")),
    Listed(
        "resources",
        "resources/templates/list",
        "resourceTemplates",
        "uriTemplate",
        (*_TOLD, "name", "mimeType"),
    ),
)
