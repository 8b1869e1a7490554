"""Notes: a tool that really writes a file, and says so."""

from __future__ import annotations

import re
from typing import Annotated, Final

from assay import Context, Server, ToolError

from .folder import Folder, Refused

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
LONGEST: Final = 64 * 1024
"""Characters of a note."""
HINTS: Final = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": True,
    "openWorldHint": False,
}


class Notes:
    """The files right below the folder that is served."""

    def __init__(self, server: Server, folder: Folder) -> None:
        self._folder = folder
        server.tool(title="Write a Note", annotations=HINTS)(self.write_note)

    def write_note(
        self,
        ctx: Context,
        name: Annotated[str, "Of the file: letters, digits, dots, hyphens, underscores"],
        text: Annotated[str, "What it holds from now on"],
    ) -> str:
        """Writes a text file into the folder that is served; one that is there is replaced"""
        if not NAME.fullmatch(name):
            raise ToolError(f"not a name for a note: {name[:200]!r}")
        if len(text) > LONGEST:
            raise ToolError(f"text too long: limit {LONGEST} characters")
        data = text.encode()
        try:
            before = self._folder.write(name, data)
        except Refused as refused:
            raise ToolError(f"cannot write {name}: {refused}") from None
        except OSError as error:
            raise ToolError(f"cannot write {name}: {error.strerror}") from None
        ctx.effect("create" if before is None else "update", name, before=before, after=data)
        return f"Wrote {len(data)} bytes to {name}"
