"""Apps: HTML pages that a client shows for the results of tools. The text followed is that of 2026-01-26."""

from __future__ import annotations

from typing import Final

from assay.model.app import MIME_TYPE
from assay.model.definition import ClientCapabilities

from .extension import Extension

EXTENSION: Final = Extension(
    "io.modelcontextprotocol/ui",
    # A page is read as a resource, which needs no declaration.
    needs_declaration=False,
)


def shows_apps(capabilities: ClientCapabilities) -> bool:
    """Whether a client has declared that it shows pages of the only type that there is."""
    settings = EXTENSION.declared_by(capabilities)
    types = None if settings is None else settings.get("mimeTypes")
    return isinstance(types, list) and MIME_TYPE in types
