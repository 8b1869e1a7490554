"""A tool that writes files, and reports it as an effect."""

from __future__ import annotations

import re
from typing import Annotated, Final

from assay import Context, Server, ToolError

from .folder import FileUnavailable, Folder

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
MOST_CHARACTERS: Final = 64 * 1024
"""Of a note."""
HINTS: Final = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": True,
    "openWorldHint": False,
}


class Notes:
    """Writes notes into the served folder."""

    def __init__(self, server: Server, folder: Folder) -> None:
        self._folder = folder
        server.tool(title="Write a Note", annotations=HINTS)(self.write_note)

    def write_note(
        self,
        ctx: Context,
        name: Annotated[str, "The file name: letters, digits, dots, hyphens, underscores"],
        text: Annotated[str, "The new content"],
    ) -> str:
        """Writes a text file into the served folder, replacing an existing one"""
        if not NAME.fullmatch(name):
            raise ToolError(f"invalid name for a note: {name[:200]!r}")
        if len(text) > MOST_CHARACTERS:
            raise ToolError(f"text too long: limit {MOST_CHARACTERS} characters")
        data = text.encode()
        try:
            before = self._folder.write(name, data)
        except FileUnavailable as error:
            raise ToolError(f"cannot write {name}: {error}") from None
        except OSError as error:
            raise ToolError(f"cannot write {name}: {error.strerror}") from None
        ctx.effect("create" if before is None else "update", name, before=before, after=data)
        return f"Wrote {len(data)} bytes to {name}"
