"""Notifications of a server, as the callbacks of a `Client` receive them."""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import Struct

ListKind = Literal["tools", "prompts", "resources"]


class Progress(Struct, rename="camel"):
    """How far a request is; `total` if the server knows it."""

    progress: float
    total: float | None = None
    message: str | None = None


LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class LogMessage(Struct):
    level: str
    data: Any
    logger: str | None = None

    def is_at_least(self, level: str | None) -> bool:
        """Whether it matters at this level; a level that is unknown always does."""
        known = self.level in LEVELS and level in LEVELS
        return not known or LEVELS.index(self.level) >= LEVELS.index(level)


class Change(Struct, frozen=True):
    """A list of the server has changed, or the resource at `uri`."""

    kind: Literal["tools", "prompts", "resources", "resource"]
    uri: str | None = None
