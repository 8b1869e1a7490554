"""Serves skills: their entries, the directories of their files, and the files as resources."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import msgspec
from msgspec import Struct

from assay.extensions.skills import EXTENSION, GET, LIST, READ_DIRECTORY
from assay.model.content import Contents
from assay.model.definition import ResourceDefinition
from assay.model.error import INVALID_PARAMS, MissingExtra, RegistrationError, ResourceNotFound, RpcError
from assay.model.visible import visible_record
from assay.protocol.codec import decode_params
from assay.protocol.middleware import Serve
from assay.revisions.revision import Revision
from assay.server.calls.call import Call
from assay.server.components.registry import PagedRegistry
from assay.server.components.resource import Access
from assay.server.components.resource_registry import Resources

from .handlers import ExtensionHandlers
from .joined import Extensions
from .skill_folder import PublishedFile, PublishedSkill, SkillSnapshot, read_skills

DEBOUNCE: Final = 200
"""Milliseconds in which changes of files are collected."""
TEXT_TYPES: Final = (
    "text/",
    "application/json",
    "application/xml",
    "application/x-sh",
    "application/javascript",
)

F = TypeVar("F", bound=Callable[..., Any])
logger = logging.getLogger("assay")
logger.addFilter(visible_record)


class SkillHost(Protocol):
    """What publishes skills: a server."""

    resources: Resources
    extensions: Extensions

    def resource_updated(self, uri: str) -> None: ...

    def background(self, function: F) -> F: ...


class _ListParams(Struct):
    cursor: str | None = None


class _UriParams(Struct):
    uri: str
    cursor: str | None = None


_list_params: Final = msgspec.json.Decoder(_ListParams).decode
_uri_params: Final = msgspec.json.Decoder(_UriParams).decode


class _Child(Struct):
    """A member of a directory, in a registry for its pages."""

    definition: ResourceDefinition
    scopes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return self.definition.uri


class SkillHandlers(ExtensionHandlers):
    """The skills of all folders of a server."""

    def __init__(self, server: SkillHost) -> None:
        super().__init__(EXTENSION)
        self._resources = server.resources
        self._page_size = server.resources.registry.page_size
        self.entries: PagedRegistry[PublishedSkill] = PagedRegistry("skills", self._page_size, lambda: None)
        self.directories: dict[str, tuple[list[ResourceDefinition], str]] = {}
        """The children of each directory, and the manifest whose rules of access it has."""

    def methods(self, revision: Revision) -> Mapping[str, Serve]:
        return {LIST: self._list, GET: self._get, READ_DIRECTORY: self._read_directory}

    async def _list(self, call: Call) -> dict[str, Any]:
        cursor = decode_params(call.params, _list_params).cursor
        call.private |= self.entries.is_scoped
        return _page("skills", *self.entries.page(cursor, call.scope.scopes))

    async def _get(self, call: Call) -> dict[str, Any]:
        uri = decode_params(call.params, _uri_params).uri
        skill = self.entries.get(uri)
        if skill is None:
            raise RpcError(INVALID_PARAMS, f"no skill has this URI: {uri[:256]}", {"uri": uri[:256]})
        await self._resources.find_for(uri, call)
        return {"skill": skill.definition}

    async def _read_directory(self, call: Call) -> dict[str, Any]:
        params: _UriParams = decode_params(call.params, _uri_params)
        children, manifest = self.directories.get(params.uri, ([], None))
        if manifest is None:
            raise RpcError(INVALID_PARAMS, f"not a directory: {params.uri[:256]}", {"uri": params.uri[:256]})
        await self._resources.find_for(manifest, call)
        registry: PagedRegistry[_Child] = PagedRegistry(
            f"directory {params.uri}", self._page_size, lambda: None
        )
        for child in children:
            registry.add(_Child(child))
        return _page("resources", *registry.page(params.cursor))


def _page(key: str, definitions: list[Any], next_cursor: str | None) -> dict[str, Any]:
    return {key: definitions} if next_cursor is None else {key: definitions, "nextCursor": next_cursor}


class SkillFolder:
    """The skills of one folder, as resources of a server. `Server.skills` returns it."""

    def __init__(
        self,
        server: SkillHost,
        handlers: SkillHandlers,
        read: Callable[[], SkillSnapshot],
        options: dict[str, Any],
    ) -> None:
        self._server = server
        self._handlers = handlers
        self._read = read
        self._options = options
        self._snapshot = SkillSnapshot([], {}, {})

    @property
    def uris(self) -> list[str]:
        """The URIs of the skills."""
        return [skill.uri for skill in self._snapshot.skills]

    def reload(self) -> bool:
        """Read the folder again, and notify clients of what has changed.

        Returns:
            Whether something has changed.

        Raises:
            RegistrationError: the folder has become invalid. What was published before still is.
        """
        return self._publish(self._read())

    def _publish(self, snapshot: SkillSnapshot) -> bool:
        before = self._snapshot
        self._check_free(snapshot, before)
        changed = [
            uri
            for uri in {**before.files, **snapshot.files}
            if _digest(before.files.get(uri)) != _digest(snapshot.files.get(uri))
        ]
        if changed:
            self._snapshot = snapshot
            self._replace_entries(before, snapshot)
            self._replace_resources(before, snapshot)
        for uri in changed:
            if uri in before.files:
                self._server.resource_updated(uri)
        return bool(changed)

    def _check_free(self, snapshot: SkillSnapshot, before: SkillSnapshot) -> None:
        for uri in snapshot.files.keys() - before.files.keys():
            if self._server.resources.registry.get(uri) is not None:
                raise RegistrationError(f"skills: a resource already has {uri}: use another `prefix`")

    def _replace_entries(self, before: SkillSnapshot, after: SkillSnapshot) -> None:
        entries, directories = self._handlers.entries, self._handlers.directories
        for skill in before.skills:
            entries.remove(skill.uri)
        for uri in before.directories:
            del directories[uri]
        for skill in after.skills:
            entries.add(PublishedSkill(skill, tuple(self._options.get("scopes", ()))))
        for uri, children in after.directories.items():
            manifest = next(each.uri for each in after.skills if f"{uri}/".startswith(each.directory))
            directories[uri] = (children, manifest)

    def _replace_resources(self, before: SkillSnapshot, after: SkillSnapshot) -> None:
        resources = self._server.resources
        for uri, file in before.files.items():
            if uri not in after.files or file.definition != after.files[uri].definition:
                resources.remove(uri)
        for uri, file in after.files.items():
            if resources.registry.get(uri) is None:
                about = file.definition
                resources.add(
                    uri,
                    _reader(self, uri),
                    name=about.name,
                    description=about.description,
                    mime_type=about.mime_type,
                    size=about.size,
                    meta=about.meta,
                    **self._options,
                )

    def contents(self, uri: str) -> Contents:
        """
        Raises:
            ResourceNotFound: no skill has such a file.
        """
        file = self._snapshot.files.get(uri)
        if file is None:
            raise ResourceNotFound(uri)
        mime_type = file.definition.mime_type
        if (mime_type or "").startswith(TEXT_TYPES):
            try:
                return Contents(uri, text=file.data.decode(), mime_type=mime_type)
            except UnicodeDecodeError:
                pass  # not UTF-8: only its bytes fit its digest
        return Contents(uri, blob=file.data, mime_type=mime_type)

    async def watch(self, folder: Path) -> None:
        """Reload when files change, until the server stops. An invalid skill is logged, and not published."""
        changed = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(_set_on_change(folder, changed))
            # The watch starts in its first step, so that no change after the first reload is missed.
            await asyncio.sleep(0)
            while True:
                await self._catch_up()
                await changed.wait()
                changed.clear()

    async def _catch_up(self) -> None:
        try:
            self._publish(await asyncio.to_thread(self._read))
        except RegistrationError as error:
            logger.warning("skills stay as they were: %s", error)


async def _set_on_change(folder: Path, changed: asyncio.Event) -> None:
    from watchfiles import awatch

    async for _ in awatch(folder, debounce=DEBOUNCE, ignore_permission_denied=True):
        changed.set()


def _digest(file: PublishedFile | None) -> str | None:
    return None if file is None else file.entry.digest


def _reader(folder: SkillFolder, uri: str) -> Callable[[], Any]:
    # `async`: nothing to wait for, so no thread is needed.
    async def read() -> Contents:
        return folder.contents(uri)

    return read


def publish_skills(
    server: SkillHost,
    folder: str | PathLike[str],
    *,
    prefix: str,
    watch: bool,
    scopes: Sequence[str],
    access: Access | None,
) -> SkillFolder:
    """Publish the skills of a folder; see `Server.skills`."""
    path = Path(folder)
    if watch and find_spec("watchfiles") is None:
        raise MissingExtra('watching skills needs watchfiles: pip install "assay-mcp[watch]"')
    joined = next((each for each in server.extensions if isinstance(each, SkillHandlers)), None)
    handlers = joined or SkillHandlers(server)
    options = {"scopes": scopes, "access": access}
    published = SkillFolder(server, handlers, partial(read_skills, path, prefix), options)
    published.reload()
    if joined is None:  # last: an invalid folder must not leave the extension declared
        server.extensions.join(handlers)
    if watch:

        async def watch_skills() -> None:
            await published.watch(path)

        server.background(watch_skills)
    return published
