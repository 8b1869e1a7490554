"""The whole server, put together."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from assay import Limits, Server, Strictness

from . import client_tools, identity, metadata, models, progress_tools, prompts, tools
from .files import Files
from .folder import Folder
from .notes import Notes
from .plugin import Plugin
from .watch import Watched

PAGE: Final = 10
"""Things on one page of a list: fewer than there are tools, so that clients meet a second page."""
PAGE_OF_FOLDER: Final = 1000
"""The same with a folder, which may hold thousands."""
STRICT: Final = Strictness(
    initialized=True, sessions=True, version_header=True, statuses=True, unknown_tool=True
)


def make_server(*, root: Path | None = None, strict: bool = False, limits: Limits | None = None) -> Server:
    """A reference server; `root` is a folder that it serves, watches and writes notes to.

    Raises:
        MissingExtra: a folder is given, and what watches it is not installed.
        OSError: there is no such folder.
    """
    server = Server(
        identity.NAME,
        identity.VERSION,
        title=identity.TITLE,
        description=identity.DESCRIPTION,
        instructions=identity.INSTRUCTIONS,
        icons=identity.ICONS,
        page_size=PAGE if root is None else PAGE_OF_FOLDER,
        limits=limits,
        strictness=STRICT if strict else Strictness(),
    )
    for part in (tools, progress_tools, client_tools, prompts, models, metadata):
        part.register(server)
    Files(server)
    Plugin(server)
    if root is not None:
        folder = Folder(root)
        Watched(server, folder)
        Notes(server, folder)
    return server
