"""Name, version and instructions of the reference server."""

from __future__ import annotations

from typing import Final

from assay import Icon

NAME: Final = "RefMCP-TestServer"
VERSION: Final = "1.0.0"
TITLE: Final = "Reference MCP Server"
DESCRIPTION: Final = "Every capability of MCP at work, to test clients against."
PREFIX: Final = "dev.assay/"
"""The prefix of the names of its extensions."""
INSTRUCTIONS: Final = """\
A server to test MCP clients with. Start with `echo`, `sum` or `get_weather`. `long_task` takes a while and
can be cancelled. `load_plugin` and `edit_resource` change what the server offers and send notifications.
`models/list`, `models/select` and `metadata/get` are custom methods."""
ICONS: Final = [
    Icon(
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAQAAAAA3iMLMAAAAKklEQVR42mP4/5/hjz0I/ZwPQp/P"
        "g9Dz5wwP2EHo/GcQmv8ThIAq//8HAFNmGXWkzYaiAAAAAElFTkSuQmCC",
        mime_type="image/png",
        sizes=["16x16"],
    )
]
