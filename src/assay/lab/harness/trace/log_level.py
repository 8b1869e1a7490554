"""The levels of log messages, from the least to the most severe (RFC 5424)."""

from __future__ import annotations

from typing import Any, Final

LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


def severity(level: Any) -> int | None:
    """Rank of a level; None for an unknown level."""
    return LEVELS.index(level) if isinstance(level, str) and level in LEVELS else None
