"""The lists that a server may have, and the fields that define their items."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

SERVER: Final = "reference --profile intelgraph --no-ledger"
"""A separate server: an announced change is not a drift, and other trials may announce one."""


class ListMethod(Struct, frozen=True):
    capability: str
    method: str
    key: str
    """The field of the result that holds the items."""
    name: str
    """The field that identifies an item."""
    fixed: tuple[str, ...]
    """Fields that define an item. Others may show its state, such as the time of its last change."""

    @property
    def announced(self) -> str:
        return f"notifications/{self.capability}/list_changed"


_TEXTS: Final = ("title", "description")
LISTS: Final = (
    ListMethod(
        "tools", "tools/list", "tools", "name", (*_TEXTS, "inputSchema", "outputSchema", "annotations")
    ),
    ListMethod("prompts", "prompts/list", "prompts", "name", (*_TEXTS, "arguments")),
    ListMethod("resources", "resources/list", "resources", "uri", (*_TEXTS, "name", "mimeType")),
    ListMethod(
        "resources",
        "resources/templates/list",
        "resourceTemplates",
        "uriTemplate",
        (*_TEXTS, "name", "mimeType"),
    ),
)
