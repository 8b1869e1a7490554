"""The result for each saboteur, and the counts by area."""

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
    """One of our checks found that requirement broken, in front of the saboteur's own server."""
    shows: bool
    """The same in front of the everything server, which the official suite uses."""
    acted: bool
    """The fault changed a message between the official suite and the server."""
    official: list[str]
    """`FAILURE scenario check` for each complaint that the healthy server does not get."""

    @property
    def name(self) -> str:
        return f"{self.suite}: {self.saboteur}"

    @property
    def area(self) -> str:
        return self.saboteur.partition(".")[0]


class Detection(StrEnum):
    """How the official suite detected a saboteur; at several revisions, the first of these that applies."""

    FAILED = "FAILURE"
    WARNED = "WARNING"
    MISSED = "active, not detected"
    NOT_TRIGGERED = "not triggered"
    NOT_COMPARABLE = "not comparable"
    """Neither suite detected the fault in front of the everything server, nor was it active there."""


def detection_of(attempts: Sequence[Attempt]) -> Detection:
    statuses = [complaint.partition(" ")[0] for attempt in attempts for complaint in attempt.official]
    if any(status != "WARNING" for status in statuses):
        return Detection.FAILED
    if statuses:
        return Detection.WARNED
    if any(attempt.acted for attempt in attempts):
        return Detection.MISSED
    return Detection.NOT_TRIGGERED if any(attempt.shows for attempt in attempts) else Detection.NOT_COMPARABLE


def by_saboteur(attempts: Sequence[Attempt]) -> dict[str, list[Attempt]]:
    grouped: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        grouped.setdefault(attempt.name, []).append(attempt)
    return grouped


class Rate(Struct, frozen=True):
    """The saboteurs of an area; those that are not comparable count for neither suite."""

    suite: str
    area: str
    saboteurs: int
    not_comparable: int
    ours: int
    failed: int
    warned: int

    @property
    def official(self) -> int:
        return self.failed + self.warned


def rates(attempts: Sequence[Attempt]) -> Iterator[Rate]:
    """By suite and area, then each suite, then all."""
    for suite in dict.fromkeys(attempt.suite for attempt in attempts):
        here = [attempt for attempt in attempts if attempt.suite == suite]
        for area in sorted({attempt.area for attempt in here}):
            yield _rate(suite, area, [attempt for attempt in here if attempt.area == area])
        yield _rate(suite, EVERY, here)
    yield _rate(EVERY, EVERY, attempts)


def _rate(suite: str, area: str, attempts: Sequence[Attempt]) -> Rate:
    detections = [(detection_of(group), group) for group in by_saboteur(attempts).values()]
    played = [
        (detection, group) for detection, group in detections if detection is not Detection.NOT_COMPARABLE
    ]
    return Rate(
        suite=suite,
        area=area,
        saboteurs=len(played),
        not_comparable=len(detections) - len(played),
        ours=sum(any(attempt.ours for attempt in group) for _, group in played),
        failed=sum(detection is Detection.FAILED for detection, _ in played),
        warned=sum(detection is Detection.WARNED for detection, _ in played),
    )


class Record(Struct, frozen=True):
    """The source of `docs/evidence/kill-rate.md`."""

    suite: str
    """The official suite, with its version."""
    revisions: list[str]
    elsewhere: list[str]
    """Saboteurs that do not apply over HTTP at these revisions."""
    attempts: list[Attempt]


def read_record(path: Path = RECORD) -> Record:
    return msgspec.json.decode(path.read_bytes(), type=Record)


def write_record(record: Record, path: Path = RECORD) -> None:
    path.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
