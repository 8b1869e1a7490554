"""Skills: folders of instructions for an agent, published as resources.

This is the draft of SEP-2640 as of August 2026, with the sizes and caching hints that the official
conformance suite expects beyond its text.
"""

from __future__ import annotations

from typing import Final

from .extension import Extension

LIST: Final = "skills/list"
GET: Final = "skills/get"
READ_DIRECTORY: Final = "resources/directory/read"

EXTENSION: Final = Extension(
    "io.modelcontextprotocol/skills",
    requests=[LIST, GET, READ_DIRECTORY],
    settings={"directoryRead": True},
    # A client reads skills as resources, which need no declaration either.
    needs_declaration=False,
    cacheable=[LIST, GET],
)
