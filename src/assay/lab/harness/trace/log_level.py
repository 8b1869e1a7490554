"""The levels of log messages, from the least to the most severe (RFC 5424)."""

from __future__ import annotations

from typing import Any, Final

LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


def severity(level: Any) -> int | None:
    """How severe a level is; none for what is no level."""
    return LEVELS.index(level) if isinstance(level, str) and level in LEVELS else None
