"""Requirements as data: one table per rule of the specification, in `<suite>/requirements/<area>.toml`.

[TL-19]
actor = "server"                  # server (default), both, receiver or requestor (of tasks); client or host
seen = "wire"                     # where the rule can be observed: wire (default), process, inside or policy
levels = { <revision> = "MUST" }  # MUST, MUST NOT, SHOULD, SHOULD NOT, implied MUST, implied SHOULD
statement = "…"
fault = "…"                       # the title of a finding, where checks do not give one
fix = "…"                         # what to change; or in `fixes.toml`, see `fix.py`
page = "server/tools#error-handling"   # below the revision's specification; a table by revision; or a URL
restates = { CA-01 = "pattern" }  # requirements that judge the same message; see `run/folding.py`
follows_from = ["META-08"]        # requirements whose breach explains that of this one in the same trace
reason = "…"                      # why no check can cite it, if so
client_reason = "…"               # the same for checks of clients, if the rule binds both sides
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from assay.revisions.registry import BY_DATE
from assay.revisions.revision import Revision

SITE: Final = "https://modelcontextprotocol.io"


class Level(Enum):
    MUST = "MUST"
    MUST_NOT = "MUST NOT"
    SHOULD = "SHOULD"
    SHOULD_NOT = "SHOULD NOT"
    IMPLIED_MUST = "implied MUST"
    """Follows from the schema or the message flow, without a capitalized keyword."""
    IMPLIED_SHOULD = "implied SHOULD"

    @property
    def binding(self) -> bool:
        """Whether a violation is a failure; otherwise it is a warning."""
        return self in (Level.MUST, Level.MUST_NOT, Level.IMPLIED_MUST)

    @property
    def explicit(self) -> bool:
        """Whether the specification says MUST or MUST NOT: the coverage figure counts these."""
        return self in (Level.MUST, Level.MUST_NOT)


class Seen(Enum):
    WIRE = "wire"
    PROCESS = "process"
    INSIDE = "inside"
    POLICY = "policy"


class Requirement(Struct, frozen=True):
    id: str
    area: str
    statement: str
    levels: dict[str, Level]
    page: str | dict[str, str]
    actor: str = "server"
    seen: Seen = Seen.WIRE
    fault: str = ""
    fix: str = ""
    restates: dict[str, str] = {}
    """Requirements for the same message, each with a pattern of the problems that it covers."""
    follows_from: tuple[str, ...] = ()
    reason: str | None = None
    client_reason: str | None = None
    """Why no check of clients can cite it."""

    def level(self, revision: Revision) -> Level | None:
        """The level in a revision; None if the requirement is not in force."""
        return self.levels.get(revision.date)

    def link(self, revision: Revision) -> str:
        page = self.page if isinstance(self.page, str) else self.page[revision.date]
        if page.startswith("https://"):
            return page
        return f"{SITE}{page}" if page.startswith("/") else f"{SITE}/specification/{revision.date}/{page}"

    @property
    def revisions(self) -> tuple[Revision, ...]:
        return tuple(revision for date, revision in BY_DATE.items() if date in self.levels)


class BadRequirement(ValueError):
    """A table in a requirement file is invalid."""


def read_requirements(directory: Path) -> dict[str, Requirement]:
    """The requirements in all files of a directory, by id."""
    return dict(_read(directory))


@cache
def _read(directory: Path) -> Mapping[str, Requirement]:
    requirements: dict[str, Requirement] = {}
    for path in sorted(directory.glob("*.toml")):
        for requirement in _parse(path):
            if requirement.id in requirements:
                raise BadRequirement(f"{path.name}: {requirement.id} is defined twice")
            requirements[requirement.id] = requirement
    return requirements


def client_requirements(shared: Path, own: Path) -> dict[str, Requirement]:
    """The requirements for clients: their own, and the shared ones that do not bind only servers.

    An own requirement replaces a shared one with the same id.

    Raises:
        BadRequirement: an own requirement has the id of one for servers.
    """
    requirements, replacements = read_requirements(shared), read_requirements(own)
    for name in replacements.keys() & requirements.keys():
        if requirements[name].actor == "server":
            raise BadRequirement(f"{replacements[name].area}.toml: {name} is a requirement for servers")
    binding = (requirement for requirement in requirements.values() if requirement.actor != "server")
    return {each.id: replace(each, reason=each.client_reason) for each in binding} | replacements


def _parse(path: Path) -> Iterator[Requirement]:
    for name, table in tomllib.loads(path.read_text("utf-8")).items():
        yield _requirement(name, path.stem, table)


def _requirement(name: str, area: str, table: Mapping[str, Any]) -> Requirement:
    try:
        requirement = msgspec.convert({**table, "id": name, "area": area}, Requirement)
    except msgspec.ValidationError as error:
        raise BadRequirement(f"{area}.toml: {name}: {error}") from error
    pages = requirement.levels if isinstance(requirement.page, str) else requirement.page
    if unknown := {*requirement.levels, *pages} - BY_DATE.keys():
        raise BadRequirement(f"{area}.toml: {name}: unknown revisions: {', '.join(sorted(unknown))}")
    if requirement.levels.keys() - pages.keys():
        raise BadRequirement(f"{area}.toml: {name}: a revision has no page")
    return requirement
