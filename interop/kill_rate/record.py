"""What came of each saboteur, and the counts by area that are made of it."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct

HERE = Path(__file__).parent
RECORD = HERE / "record.json"
EVERY = "all"


class Attempt(Struct, frozen=True):
    """One saboteur at one revision."""

    suite: str
    saboteur: str
    revision: str
    fault: str
    ours: bool
    """A check of ours found the very requirement broken, before the saboteur's own server."""
    shows: bool
    """The same before the everything server, where the official suite plays."""
    acted: bool
    """The fault changed something of what passed between the official suite and the server."""
    official: list[str]
    """`FAILURE scenario check` for each complaint that the healthy server does not get."""

    @property
    def name(self) -> str:
        return f"{self.suite}: {self.saboteur}"

    @property
    def area(self) -> str:
        return self.saboteur.partition(".")[0]


class Fate(StrEnum):
    """How a saboteur fared under the official suite; at several revisions, the first of these that fits."""

    FAILED = "FAILURE"
    WARNED = "WARNING"
    UNSEEN = "at work, and not seen"
    UNPROVOKED = "never provoked"
    UNPLAYABLE = "not playable"
    """Neither suite saw the fault before the everything server, nor was it at work there."""


def fate_of(attempts: Sequence[Attempt]) -> Fate:
    said = [complaint.partition(" ")[0] for one in attempts for complaint in one.official]
    if any(status != "WARNING" for status in said):
        return Fate.FAILED
    if said:
        return Fate.WARNED
    if any(one.acted for one in attempts):
        return Fate.UNSEEN
    return Fate.UNPROVOKED if any(one.shows for one in attempts) else Fate.UNPLAYABLE


def by_saboteur(attempts: Sequence[Attempt]) -> dict[str, list[Attempt]]:
    found: dict[str, list[Attempt]] = {}
    for one in attempts:
        found.setdefault(one.name, []).append(one)
    return found


class Rate(Struct, frozen=True):
    """An area's saboteurs; those that are not playable count for neither side."""

    suite: str
    area: str
    saboteurs: int
    unplayable: int
    ours: int
    failed: int
    warned: int

    @property
    def official(self) -> int:
        return self.failed + self.warned


def rates(attempts: Sequence[Attempt]) -> Iterator[Rate]:
    """By suite and area, then each suite, then all."""
    for suite in dict.fromkeys(one.suite for one in attempts):
        here = [one for one in attempts if one.suite == suite]
        for area in sorted({one.area for one in here}):
            yield _rate(suite, area, [one for one in here if one.area == area])
        yield _rate(suite, EVERY, here)
    yield _rate(EVERY, EVERY, attempts)


def _rate(suite: str, area: str, attempts: Sequence[Attempt]) -> Rate:
    fates = [(fate_of(found), found) for found in by_saboteur(attempts).values()]
    played = [(fate, found) for fate, found in fates if fate is not Fate.UNPLAYABLE]
    return Rate(
        suite=suite,
        area=area,
        saboteurs=len(played),
        unplayable=len(fates) - len(played),
        ours=sum(any(one.ours for one in found) for _, found in played),
        failed=sum(fate is Fate.FAILED for fate, _ in played),
        warned=sum(fate is Fate.WARNED for fate, _ in played),
    )


class Record(Struct, frozen=True):
    """What `docs/evidence/kill-rate.md` is made from."""

    suite: str
    """The official suite, with its version."""
    revisions: list[str]
    elsewhere: list[str]
    """Saboteurs that have nothing to break over HTTP at these revisions."""
    attempts: list[Attempt]


def read_record(path: Path = RECORD) -> Record:
    return msgspec.json.decode(path.read_bytes(), type=Record)


def write_record(record: Record, path: Path = RECORD) -> None:
    path.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
