"""How bad a vulnerability is, by what its record says of itself.

Critical is a CVSS score of 9.0 or more in the vector of the record's highest CVSS version, or the word
CRITICAL of its database. A record that says neither is *unscored*, which is not the same as harmless.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final

from cvss import CVSS2, CVSS3, CVSS4  # type: ignore[import-untyped]
from cvss.exceptions import CVSSError  # type: ignore[import-untyped]
from msgspec import Struct

from .osv_export import Severity


class Level(StrEnum):
    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    UNSCORED = "unscored"


class Rating(Struct, frozen=True):
    level: Level
    method: str = ""
    """What the level stands on: `CVSS_V4`, `CVSS_V3`, `CVSS_V2` or `database`."""
    score: str = ""


_SCORES: Final[Mapping[str, Callable[[str], float]]] = {
    "CVSS_V4": lambda vector: float(CVSS4(vector).base_score),
    "CVSS_V3": lambda vector: float(CVSS3(vector).scores()[0]),
    "CVSS_V2": lambda vector: float(CVSS2(vector).scores()[0]),
}
"""The highest version first."""
_LEAST: Final = ((9.0, Level.CRITICAL), (7.0, Level.HIGH), (4.0, Level.MEDIUM), (0.0, Level.LOW))
_WORDS: Final = {
    "CRITICAL": Level.CRITICAL,
    "HIGH": Level.HIGH,
    "MODERATE": Level.MEDIUM,
    "MEDIUM": Level.MEDIUM,
    "LOW": Level.LOW,
}
BADNESS: Final = tuple(Level)
"""From the worst on; unscored stands last, and says nothing."""


def rate(severities: list[Severity] | None, database: Mapping[str, Any] | None) -> Rating:
    """The worse of score and word; a vector that cannot be read is none."""
    found = [one for one in (_scored(severities or []), _worded(database or {})) if one is not None]
    return worst(found)


def worst(ratings: list[Rating]) -> Rating:
    return min(ratings, key=lambda one: BADNESS.index(one.level), default=Rating(Level.UNSCORED))


def _scored(severities: list[Severity]) -> Rating | None:
    for method, compute in _SCORES.items():
        for one in severities:
            if one.type == method:
                try:
                    score = compute(one.score)
                except (CVSSError, ValueError):
                    continue
                level = next(level for least, level in _LEAST if score >= least)
                return Rating(level, method, f"{score:.1f}")
    return None


def _worded(database: Mapping[str, Any]) -> Rating | None:
    word = database.get("severity")
    level = _WORDS.get(word.upper()) if isinstance(word, str) else None
    return None if level is None else Rating(level, "database", str(word))
