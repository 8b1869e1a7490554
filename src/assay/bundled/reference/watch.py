"""A folder as resources, watched for changes."""

from __future__ import annotations

import asyncio
import mimetypes
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote

from assay import Annotations, Contents, MissingExtra, ResourceNotFound, RpcError, Server

from .folder import FileUnavailable, Folder, Stamp, TooLarge

BASE: Final = "file:///root/"
TEMPLATE: Final = BASE + "{+path}"
DEBOUNCE: Final = 200
"""Milliseconds in which changes are collected; clients should be notified within a second."""
BATCH: Final = 100
"""Changes of the list before other tasks get to run."""
BINARY: Final = "application/octet-stream"
COMPRESSED: Final = MappingProxyType({"gzip": "application/gzip", "bzip2": "application/x-bzip2"})
INTERNAL_ERROR: Final = -32603


class WatchedFolder:
    """Keeps the resources of a server in sync with a folder."""

    def __init__(self, server: Server, folder: Folder) -> None:
        """
        Raises:
            MissingExtra: watchfiles is not installed.
        """
        if find_spec("watchfiles") is None:
            raise MissingExtra('watching a folder needs watchfiles: pip install "assay-mcp[watch]"')
        self._server = server
        self._folder = folder
        self._known: dict[str, Stamp] = {}
        for path, stamp in self._folder.scan().items():
            self._add(path, stamp)
        options: dict[str, Any] = {"name": "root", "title": "Files of the served folder"}
        server.resource(TEMPLATE, description="Any file below the folder", **options)(self.read)
        server.background(self.run)

    def read(self, path: str) -> Contents:
        uri = uri_of(path)
        try:
            data = self._folder.read(path)
        except TooLarge as error:
            raise RpcError(INTERNAL_ERROR, str(error), {"uri": uri}) from None
        except FileUnavailable:
            # The same for every reason, so that clients learn nothing about other paths.
            raise ResourceNotFound(uri) from None
        return to_contents(uri, data)

    async def run(self) -> None:
        """Watch until the server stops."""
        changed = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch(changed))
            # The watch starts in its first step, so that no change after the next scan is missed.
            await asyncio.sleep(0)
            while True:
                await self._catch_up()
                await changed.wait()
                changed.clear()

    async def _watch(self, changed: asyncio.Event) -> None:
        from watchfiles import awatch

        async for _ in awatch(
            self._folder.path, watch_filter=None, debounce=DEBOUNCE, ignore_permission_denied=True
        ):
            changed.set()

    async def _catch_up(self) -> None:
        """Update the list to the state of the folder, and notify clients of changed files."""
        current = await asyncio.to_thread(self._folder.scan)
        changes = [path for path in {**self._known, **current} if self._known.get(path) != current.get(path)]
        for number, path in enumerate(changes):
            self._update(path, current.get(path))
            if number % BATCH == BATCH - 1:
                await asyncio.sleep(0)

    def _update(self, path: str, stamp: Stamp | None) -> None:
        if stamp is None:
            del self._known[path]
            self._server.resources.remove(uri_of(path))
        elif path in self._known:
            self._known[path] = stamp
            self._server.resources.describe(uri_of(path), **about(stamp))
        else:
            self._add(path, stamp)
            return
        self._server.resource_updated(uri_of(path))

    def _add(self, path: str, stamp: Stamp) -> None:
        self._known[path] = stamp
        self._server.resources.add(
            uri_of(path), partial(self.read, path), name=path, mime_type=mime_type_of(path), **about(stamp)
        )


def uri_of(path: str) -> str:
    return BASE + quote(path)


def about(stamp: Stamp) -> dict[str, Any]:
    modified = datetime.fromtimestamp(stamp.modified / 1e9, UTC).isoformat(timespec="seconds")
    return {"size": stamp.size, "annotations": Annotations(last_modified=modified)}


def mime_type_of(path: str) -> str:
    kind, encoding = mimetypes.guess_type(path)
    return (kind if encoding is None else COMPRESSED.get(encoding)) or BINARY


def to_contents(uri: str, data: bytes) -> Contents:
    """Text if it can be decoded, unless its type is binary; a file of unknown type may be either."""
    kind = mime_type_of(uri)
    if kind == BINARY or kind.startswith(("text/", "application/")) or kind.endswith("+xml"):
        text = text_of(data)
        if text is not None:
            return Contents(uri, text=text, mime_type="text/plain" if kind == BINARY else kind)
    return Contents(uri, blob=data, mime_type=kind)


def text_of(data: bytes) -> str | None:
    try:
        return None if b"\0" in data else data.decode("utf-8")
    except UnicodeDecodeError:
        return None
