"""The severity of a vulnerability, from its OSV record.

It is critical with a CVSS score of 9.0 or more in the record's highest CVSS version, or if its database rates
it CRITICAL. A record without either is *unscored*, which does not mean harmless.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final

from cvss import CVSS2, CVSS3, CVSS4  # type: ignore[import-untyped]
from cvss.exceptions import CVSSError  # type: ignore[import-untyped]
from msgspec import Struct

from .osv_export import Severity


class SeverityLevel(StrEnum):
    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    UNSCORED = "unscored"


class Rating(Struct, frozen=True):
    level: SeverityLevel
    method: str = ""
    """The basis of the level: `CVSS_V4`, `CVSS_V3`, `CVSS_V2` or `database`."""
    score: str = ""


_SCORES: Final[Mapping[str, Callable[[str], float]]] = {
    "CVSS_V4": lambda vector: float(CVSS4(vector).base_score),
    "CVSS_V3": lambda vector: float(CVSS3(vector).scores()[0]),
    "CVSS_V2": lambda vector: float(CVSS2(vector).scores()[0]),
}
"""Highest version first."""
_THRESHOLDS: Final = (
    (9.0, SeverityLevel.CRITICAL),
    (7.0, SeverityLevel.HIGH),
    (4.0, SeverityLevel.MEDIUM),
    (0.0, SeverityLevel.LOW),
)
_WORDS: Final = {
    "CRITICAL": SeverityLevel.CRITICAL,
    "HIGH": SeverityLevel.HIGH,
    "MODERATE": SeverityLevel.MEDIUM,
    "MEDIUM": SeverityLevel.MEDIUM,
    "LOW": SeverityLevel.LOW,
}
WORST_FIRST: Final = tuple(SeverityLevel)
"""Unscored comes last: any other rating overrides it."""


def rate(severities: list[Severity] | None, database: Mapping[str, Any] | None) -> Rating:
    """The worse of the CVSS score and the database's rating. Invalid vectors are ignored."""
    ratings = (_cvss_rating(severities or []), _database_rating(database or {}))
    return worst([rating for rating in ratings if rating is not None])


def worst(ratings: list[Rating]) -> Rating:
    return min(
        ratings, key=lambda rating: WORST_FIRST.index(rating.level), default=Rating(SeverityLevel.UNSCORED)
    )


def _cvss_rating(severities: list[Severity]) -> Rating | None:
    for method, compute in _SCORES.items():
        for severity in severities:
            if severity.type == method:
                try:
                    score = compute(severity.score)
                except (CVSSError, ValueError):
                    continue
                level = next(level for least, level in _THRESHOLDS if score >= least)
                return Rating(level, method, f"{score:.1f}")
    return None


def _database_rating(database: Mapping[str, Any]) -> Rating | None:
    word = database.get("severity")
    level = _WORDS.get(word.upper()) if isinstance(word, str) else None
    return None if level is None else Rating(level, "database", str(word))
