"""Requirements as data: one table per sentence of the specification, in `<suite>/requirements/<area>.toml`.

[TL-19]
actor = "server"                  # server, both, receiver or requestor (of tasks); client or host
seen = "wire"                     # wire, process, inside or policy: where the rule can be observed
levels = { <revision> = "MUST" }  # MUST, MUST NOT, SHOULD, SHOULD NOT, implied MUST, implied SHOULD
statement = "…"
page = "server/tools#error-handling"   # below each revision's specification; a table where it moved; or a URL
reason = "…"                      # why no check can cite it; absent where one can
client_reason = "…"               # the same of a row that binds both sides, where clients are judged
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
    """Fixed by the schema or by the flow of messages, not by a capital word."""
    IMPLIED_SHOULD = "implied SHOULD"

    @property
    def binding(self) -> bool:
        """Whether breaking it is a failure; otherwise it is a warning."""
        return self in (Level.MUST, Level.MUST_NOT, Level.IMPLIED_MUST)

    @property
    def spoken(self) -> bool:
        """Whether the specification says MUST or MUST NOT: these rows make up the coverage figure."""
        return self in (Level.MUST, Level.MUST_NOT)


class Seen(Enum):
    WIRE = "wire"
    PROCESS = "process"
    INSIDE = "inside"
    POLICY = "policy"


class Requirement(Struct, frozen=True):
    id: str
    area: str
    actor: str
    seen: Seen
    statement: str
    levels: dict[str, Level]
    page: str | dict[str, str]
    reason: str | None = None
    client_reason: str | None = None
    """Why no check of the client's side can cite it."""

    def level(self, revision: Revision) -> Level | None:
        """How strong it is in that revision; none where it is not in force."""
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
    """A table in a requirement file cannot be used; the text says which and why."""


def read_requirements(directory: Path) -> dict[str, Requirement]:
    """Every row of every file, by id."""
    return dict(_read(directory))


@cache
def _read(directory: Path) -> Mapping[str, Requirement]:
    rows: dict[str, Requirement] = {}
    for path in sorted(directory.glob("*.toml")):
        for row in _rows(path):
            if row.id in rows:
                raise BadRequirement(f"{path.name}: {row.id} is in two places")
            rows[row.id] = row
    return rows


def client_requirements(shared: Path, own: Path) -> dict[str, Requirement]:
    """The rows that hold for clients: their own, and the shared ones that are not the server's alone.

    An own row with the id of a shared one says it anew, where it is otherwise on the client's side.

    Raises:
        BadRequirement: an own row has the id of a server's.
    """
    rows, anew = read_requirements(shared), read_requirements(own)
    for name in anew.keys() & rows.keys():
        if rows[name].actor == "server":
            raise BadRequirement(f"{anew[name].area}.toml: {name} is a row of servers")
    binding = (row for row in rows.values() if row.actor != "server")
    return {row.id: replace(row, reason=row.client_reason) for row in binding} | anew


def _rows(path: Path) -> Iterator[Requirement]:
    for name, table in tomllib.loads(path.read_text("utf-8")).items():
        yield _row(name, path.stem, table)


def _row(name: str, area: str, table: Mapping[str, Any]) -> Requirement:
    try:
        row = msgspec.convert({**table, "id": name, "area": area}, Requirement)
    except msgspec.ValidationError as error:
        raise BadRequirement(f"{area}.toml: {name}: {error}") from error
    pages = row.levels if isinstance(row.page, str) else row.page
    if unknown := {*row.levels, *pages} - BY_DATE.keys():
        raise BadRequirement(f"{area}.toml: {name}: unknown revisions: {', '.join(sorted(unknown))}")
    if row.levels.keys() - pages.keys():
        raise BadRequirement(f"{area}.toml: {name}: a revision has no page")
    return row
