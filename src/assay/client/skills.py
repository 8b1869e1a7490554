"""Skills of a server: listed without reading them, and verified against their entry before use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any, Final

from msgspec import Raw, Struct, field

from assay.model.client_error import InvalidAnswer
from assay.model.client_limits import ClientLimits
from assay.model.content import Contents
from assay.model.result import ReadResult
from assay.model.skill import MANIFEST, MOST_BYTES, MOST_FILES, LoadedSkill, Skill, SkillFile, is_skill_name
from assay.model.visible import visible
from assay.protocol.frontmatter import differing_field, read_frontmatter

from .listing import Page, collect, decode_result
from .log import client_logger

Request = Callable[[str, dict[str, Any]], Awaitable[Raw]]

HEXADECIMAL: Final = frozenset("0123456789abcdef")
DIGEST: Final = "sha256:"


class _Skills(Page):
    items: list[Skill] = field(name="skills")


class _Got(Struct):
    skill: Skill


async def list_skills(request: Request, limits: ClientLimits) -> list[Skill]:
    """The skills with a valid entry. Nothing of them is read.

    Raises:
        ClientError: no answer, or an invalid one.
    """
    skills = await collect("skills/list", request, limits, _Skills)
    return [skill for skill in skills if _is_usable(skill)]


def _is_usable(skill: Skill) -> bool:
    try:
        check_entry(skill)
    except InvalidAnswer as error:
        client_logger().warning("a skill cannot be used: %s", error)
        return False
    return True


async def get_skill(request: Request, uri: str) -> Skill:
    """
    Raises:
        InvalidAnswer: its entry is invalid, or of another skill.
        ClientError: the server has no such skill, or no answer.
    """
    skill = decode_result(await request("skills/get", {"uri": uri}), _Got, "skills/get").skill
    if skill.uri != uri:
        raise _unusable(uri, f"the server sent the entry of {skill.uri}")
    check_entry(skill)
    return skill


async def load_skill(request: Request, skill: Skill) -> LoadedSkill:
    """Read a skill's `SKILL.md` and compare it with the entry.

    Raises:
        InvalidAnswer: they differ.
        ClientError: no answer.
    """
    check_entry(skill)
    loaded = LoadedSkill(skill, await _read(request, skill, skill.uri))
    try:
        difference = differing_field(read_frontmatter(loaded.text), skill.frontmatter)
    except (ValueError, RecursionError) as error:
        raise _unusable(skill.uri, str(error)) from None
    if difference is not None:
        raise _unusable(skill.uri, f"its frontmatter differs from its entry in the field {difference}")
    return loaded


async def read_skill_file(request: Request, loaded: LoadedSkill, path: str) -> Contents:
    """A further file of a skill, by its path in the skill or its URI.

    Raises:
        ValueError: the entry does not list it.
        InvalidAnswer: it differs from the entry.
        ClientError: no answer.
    """
    if not isinstance(loaded, LoadedSkill):
        raise TypeError("read files of a skill after `loaded = await client.load_skill(skill)`")
    skill = loaded.skill
    uri = path if path.startswith(skill.directory) else skill.directory + path
    if not _is_inside(uri, skill.directory) or not _lists(skill, uri):
        raise ValueError(f"not a file of skill {visible(skill.name)}: {path!r}; its files are in `resources`")
    return await _read(request, skill, uri)


def _lists(skill: Skill, uri: str) -> bool:
    return skill.resources == "dynamic" or any(file.uri == uri for file in skill.resources)


async def _read(request: Request, skill: Skill, uri: str) -> Contents:
    raw = await request("resources/read", {"uri": uri})
    parts = decode_result(raw, ReadResult, "resources/read").contents
    if len(parts) != 1:
        raise _unusable(uri, f"it has {len(parts)} parts")
    data = _bytes_of(parts[0])
    if skill.resources == "dynamic":
        if len(data) > MOST_BYTES:
            raise _unusable(uri, f"it has more than {MOST_BYTES} bytes")
    else:
        _compare(data, next(file for file in skill.resources if file.uri == uri))
    return parts[0]


def _bytes_of(contents: Contents) -> bytes:
    # A lone surrogate has no UTF-8; its bytes fit no digest.
    return contents.blob or b"" if contents.text is None else contents.text.encode(errors="surrogatepass")


def _compare(data: bytes, file: SkillFile) -> None:
    if len(data) != file.size:
        raise _unusable(file.uri, f"its size is {len(data)} bytes, its entry says {file.size}")
    digest = DIGEST + sha256(data).hexdigest()
    if digest != file.digest:
        raise _unusable(file.uri, f"its digest is {digest}, its entry says {file.digest}")


# Entries.


def check_entry(skill: Skill) -> None:
    """
    Raises:
        InvalidAnswer: an entry that breaks the rules of the extension.
    """
    directory, manifest, rest = skill.uri.rpartition(MANIFEST)
    if not manifest or rest or not directory.endswith("/") or not _is_inside(skill.uri, directory):
        raise _unusable(skill.uri, f"its URI does not end with /{MANIFEST}")
    if not skill.name or not skill.description:
        raise _unusable(skill.uri, "its frontmatter has no name and description")
    if not is_skill_name(skill.name) or directory.split("/")[-2] != skill.name:
        raise _unusable(skill.uri, f"its name {skill.name!r:.80} is invalid or not the last part of its path")
    if skill.resources != "dynamic":
        _check_files(skill, skill.resources)


def _check_files(skill: Skill, files: list[SkillFile]) -> None:
    uris = {file.uri for file in files}
    if skill.uri not in uris:
        raise _unusable(skill.uri, f"its files do not include {MANIFEST}")
    if len(uris) != len(files):
        raise _unusable(skill.uri, "it lists a file twice")
    if len(files) > MOST_FILES or sum(file.size for file in files) > MOST_BYTES:
        raise _unusable(skill.uri, f"it has more than {MOST_FILES} files or {MOST_BYTES} bytes")
    for file in files:
        if not _is_inside(file.uri, skill.directory):
            raise _unusable(file.uri, f"it is not inside {skill.directory}")
        if not _is_digest(file.digest) or file.size < 0:
            raise _unusable(file.uri, "its digest or size is invalid: sha256: and 64 lower-case digits")


def _is_inside(uri: str, directory: str) -> bool:
    """Whether a URI is below a directory however it is written: hosts may store files under its path."""
    path = uri.removeprefix(directory)
    segments = path.replace("%2e", ".").replace("%2E", ".").split("/")
    return (
        uri.startswith(directory)
        and not any(segment in ("", ".", "..") for segment in segments)
        and not any(mark in path for mark in ("\\", "?", "#", "%2f", "%2F", "%5c", "%5C"))
    )


def _is_digest(digest: str) -> bool:
    hexadecimal = digest.removeprefix(DIGEST)
    return digest.startswith(DIGEST) and len(hexadecimal) == 64 and HEXADECIMAL.issuperset(hexadecimal)


def _unusable(uri: str, reason: str) -> InvalidAnswer:
    return InvalidAnswer(f"do not use {visible(uri)}: {visible(reason)}")
