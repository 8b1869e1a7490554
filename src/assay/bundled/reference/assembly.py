"""Assembly of the reference server."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from assay import Limits, MissingExtra, Server, Strictness

from . import app, client_tools, identity, metadata, models, progress_tools, prompts, tools
from .files import Files
from .folder import Folder
from .notes import Notes
from .plugin import Plugin
from .watch import WatchedFolder

PAGE: Final = 10
"""Fewer than there are tools, so that clients have to follow a cursor."""
PAGE_OF_FOLDER: Final = 1000
"""With a folder, which may hold thousands of files."""
SKILLS: Final = Path(__file__).parent / "skills"
STRICT: Final = Strictness(
    initialized=True, sessions=True, negotiated_version=True, statuses=True, unique_ids=True
)
"""The strictest reading of the specification: clients that conform are served."""
SEED_COMPAT: Final = {"version_header": True, "unknown_tool": True}
"""What the first design of this server asked for, against the specification."""


def make_server(
    *,
    root: Path | None = None,
    strict: bool = False,
    seed_compat: bool = False,
    limits: Limits | None = None,
) -> Server:
    """Create a reference server.

    Args:
        root: A folder to serve as resources, watch for changes, and write notes to.
        strict: Follow the strictest reading of the specification.
        seed_compat: Follow the first design of this server where it contradicts the specification.
        limits: The limits of the server.

    Raises:
        MissingExtra: `root` needs watchfiles, which is not installed.
        OSError: the folder does not exist.
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
        strictness=_strictness(strict, seed_compat),
    )
    for part in (tools, progress_tools, client_tools, prompts, models, metadata):
        part.register(server)
    Files(server)
    app.register(server)
    # Skills need PyYAML, which not every installation has.
    with suppress(MissingExtra):
        server.skills(SKILLS)
    Plugin(server)
    if root is not None:
        folder = Folder(root)
        WatchedFolder(server, folder)
        Notes(server, folder)
    return server


def _strictness(strict: bool, seed_compat: bool) -> Strictness:
    strictness = STRICT if strict else Strictness()
    return replace(strictness, **SEED_COMPAT) if seed_compat else strictness
