"""A folder of skills, read as a whole.

The files are held in memory: what a client reads always has the digest that its entry names, even while an
author saves. Each name is opened relative to the descriptor of its directory and without following links, so
that nothing outside the folder is ever published.
"""

from __future__ import annotations

import mimetypes
import os
import stat
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from msgspec import Struct

from assay.model.definition import ResourceDefinition
from assay.model.error import RegistrationError
from assay.model.skill import MANIFEST, MOST_BYTES, MOST_FILES, Skill, SkillFile, is_skill_name
from assay.protocol.frontmatter import frontmatter_as_json
from assay.server.components.resource import BINARY, DIRECTORY

SCHEME: Final = "skill://"
PREFIX: Final = "io.modelcontextprotocol.skills/"
"""Of keys in `_meta` for the other fields of the frontmatter."""
SHOWN: Final = ("name", "description")
MARKDOWN: Final = "text/markdown"
MOST_SKILLS: Final = 1000
MOST_FOLDER_BYTES: Final = 64 * 1024 * 1024
"""Of all skills of one folder."""
DEEPEST: Final = 32

# O_NONBLOCK: opening a pipe must not wait for its other end.
_FILE: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


class PublishedFile(Struct, frozen=True):
    definition: ResourceDefinition
    data: bytes
    entry: SkillFile


class PublishedSkill(NamedTuple):
    definition: Skill
    scopes: tuple[str, ...]

    @property
    def key(self) -> str:
        return self.definition.uri


class SkillSnapshot(NamedTuple):
    """All skills of a folder at one moment.

    Args:
        skills: Their entries, in order of their URIs.
        files: Every file by its URI.
        directories: The direct children of every directory, by its URI without a slash at the end.
    """

    skills: list[Skill]
    files: dict[str, PublishedFile]
    directories: dict[str, list[ResourceDefinition]]


def read_skills(folder: Path, prefix: str = "") -> SkillSnapshot:
    """Read a folder of skills, or the folder of one skill.

    Args:
        folder: Where to look for folders with a `SKILL.md`, at any depth.
        prefix: What the URIs begin with after `skill://`.

    Raises:
        RegistrationError: there is no skill, or one is invalid or too large.
        MissingExtra: PyYAML is not installed.
    """
    root = folder.resolve()
    if not root.is_dir():
        raise RegistrationError(
            f"skills: {folder} is not a folder: name one that has folders with a {MANIFEST}"
        )
    contents = dict(_read_files(root))
    # A folder that is itself a skill is published under its own name.
    inside = [root.name] if (MANIFEST,) in contents else []
    contents = {(*inside, *path): data for path, data in contents.items()}
    manifests = sorted(path[:-1] for path in contents if path[-1] == MANIFEST)
    if not manifests:
        raise RegistrationError(f"skills: no folder in {folder} has a {MANIFEST}")
    if len(manifests) > MOST_SKILLS:
        raise RegistrationError(f"skills: {folder} has {len(manifests)} skills, limit {MOST_SKILLS}")
    return _snapshot(SCHEME + (f"{prefix.strip('/')}/" if prefix.strip("/") else ""), manifests, contents)


def _read_files(root: Path) -> Iterator[tuple[tuple[str, ...], bytes]]:
    total = 0
    descriptor = os.open(root, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        for above, directories, names, directory in os.fwalk(".", dir_fd=descriptor):
            parents = tuple(above.split("/")[1:])
            directories[:] = sorted(filter(_is_published, directories)) if len(parents) < DEEPEST else []
            for name in sorted(filter(_is_published, names)):
                data = _read_file(name, directory)
                if data is not None:
                    total += len(data)
                    if total > MOST_FOLDER_BYTES:
                        raise RegistrationError(f"skills: {root} has more than {MOST_FOLDER_BYTES} bytes")
                    yield (*parents, name), data
    finally:
        os.close(descriptor)


def _is_published(name: str) -> bool:
    """Hidden files, and names that no URI can have, are not part of a skill."""
    return not name.startswith(".") and "\\" not in name and name.isprintable()


def _read_file(name: str, directory: int) -> bytes | None:
    """The content of a regular file; None for links, devices and what has been removed meanwhile."""
    try:
        descriptor = os.open(name, _FILE, dir_fd=directory)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        # One more than fits, so that the limit is noticed.
        return file.read(MOST_BYTES + 1)


def _snapshot(
    base: str, manifests: list[tuple[str, ...]], contents: dict[tuple[str, ...], bytes]
) -> SkillSnapshot:
    tops = [
        path
        for path in manifests
        if not any(path[: len(other)] == other for other in manifests if other != path)
    ]
    published = {
        path: data for path, data in contents.items() if any(path[: len(top)] == top for top in tops)
    }
    fields = {path: _frontmatter(path, contents[(*path, MANIFEST)]) for path in manifests}
    files = {path: _publish(base, path, data, fields.get(path[:-1])) for path, data in published.items()}
    skills = [_skill(path, fields[path], files) for path in manifests]
    return SkillSnapshot(
        skills, {file.definition.uri: file for file in files.values()}, _directories(base, tops, files)
    )


def _frontmatter(path: tuple[str, ...], data: bytes) -> dict[str, Any]:
    place = "/".join((*path, MANIFEST))
    try:
        fields = frontmatter_as_json(data.decode())
    except ValueError as error:
        raise RegistrationError(f"skill {place}: {error}") from None
    name, description = fields.get("name"), fields.get("description")
    if not isinstance(name, str) or not isinstance(description, str) or not name or not description:
        raise RegistrationError(f"skill {place}: its frontmatter needs a `name` and a `description`")
    if not is_skill_name(name):
        raise RegistrationError(
            f"skill {place}: invalid name {name!r:.80}: use lower-case letters, digits and single hyphens"
        )
    if name != path[-1]:
        raise RegistrationError(
            f"skill {place}: its name is {name!r} and its folder {path[-1]!r}: rename one of them"
        )
    return fields


def _publish(base: str, path: tuple[str, ...], data: bytes, fields: dict[str, Any] | None) -> PublishedFile:
    uri = base + quote("/".join(path))
    about: dict[str, Any] = {"name": path[-1]}
    if path[-1] == MANIFEST and fields is not None:
        others = {PREFIX + key: value for key, value in fields.items() if key not in SHOWN}
        about = {key: fields[key] for key in SHOWN} | {"meta": others or None}
    definition = ResourceDefinition(uri=uri, mime_type=_mime_type(path[-1]), size=len(data), **about)
    return PublishedFile(definition, data, SkillFile(uri, f"sha256:{sha256(data).hexdigest()}", len(data)))


def _mime_type(name: str) -> str:
    if name.endswith(".md"):
        return MARKDOWN
    kind, encoding = mimetypes.guess_type(name)
    return kind if kind is not None and encoding is None else BINARY


def _skill(
    path: tuple[str, ...], fields: dict[str, Any], files: dict[tuple[str, ...], PublishedFile]
) -> Skill:
    # Files of skills inside this one are its files, too.
    entries = [file.entry for other, file in files.items() if other[: len(path)] == path]
    size = sum(entry.size for entry in entries)
    if len(entries) > MOST_FILES or size > MOST_BYTES:
        raise RegistrationError(
            f"skill {'/'.join(path)}: {len(entries)} files with {size} bytes,"
            f" limit {MOST_FILES} and {MOST_BYTES}"
        )
    return Skill(files[(*path, MANIFEST)].entry.uri, fields, entries)


def _directories(
    base: str, tops: list[tuple[str, ...]], files: dict[tuple[str, ...], PublishedFile]
) -> dict[str, list[ResourceDefinition]]:
    children: dict[tuple[str, ...], dict[str, ResourceDefinition]] = {}
    for path, file in files.items():
        top = next(each for each in tops if path[: len(each)] == each)
        children.setdefault(path[:-1], {})[path[-1]] = file.definition
        for depth in range(len(top) + 1, len(path)):
            inner = ResourceDefinition(
                uri=base + quote("/".join(path[:depth])), name=path[depth - 1], mime_type=DIRECTORY
            )
            children.setdefault(path[: depth - 1], {})[path[depth - 1]] = inner
    return {base + quote("/".join(path)): list(names.values()) for path, names in children.items()}
