"""Skills, as servers list them and `Client.skills` returns them: extension io.modelcontextprotocol/skills."""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import Struct

from .content import Contents

MANIFEST: Final = "SKILL.md"
MOST_FILES: Final = 512
MOST_BYTES: Final = 16 * 1024 * 1024
"""Of all files of a skill."""
NAME_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


def is_skill_name(name: str) -> bool:
    """Whether a skill may have this name: lower-case letters, digits, and single hyphens between them."""
    return len(name) <= 64 and NAME_CHARACTERS.issuperset(name) and all(name.split("-"))


class SkillFile(Struct, frozen=True):
    """One file of a skill: what its bytes must be."""

    uri: str
    digest: str
    size: int


class Skill(Struct, frozen=True):
    """An entry of a server's list of skills. Nothing of the skill has been read yet.

    Args:
        uri: The URI of its `SKILL.md`.
        frontmatter: The fields at the beginning of that file.
        resources: All its files, or `dynamic` if the server generates them.
    """

    uri: str
    frontmatter: dict[str, Any]
    resources: list[SkillFile] | Literal["dynamic"]

    @property
    def name(self) -> str:
        return str(self.frontmatter.get("name", ""))

    @property
    def description(self) -> str:
        return str(self.frontmatter.get("description", ""))

    @property
    def directory(self) -> str:
        """What the URIs of its files begin with."""
        return self.uri.removesuffix(MANIFEST)


class LoadedSkill(Struct, frozen=True):
    """A skill whose `SKILL.md` is the one that its entry describes.

    Args:
        skill: The entry.
        manifest: The `SKILL.md`, as it was read.
    """

    skill: Skill
    manifest: Contents

    @property
    def text(self) -> str:
        """The whole `SKILL.md`."""
        if self.manifest.text is not None:
            return self.manifest.text
        return (self.manifest.blob or b"").decode()
