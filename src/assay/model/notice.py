"""Notifications of a server, as the callbacks of a `Client` receive them."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

ListKind = Literal["tools", "prompts", "resources"]


class Progress(Struct, rename="camel"):
    """How far a request is; `total` if the server knows it."""

    progress: float
    total: float | None = None
    message: str | None = None


class LogMessage(Struct):
    level: str
    data: Any
    logger: str | None = None


class Change(Struct, frozen=True):
    """A list of the server has changed, or the resource at `uri`."""

    kind: Literal["tools", "prompts", "resources", "resource"]
    uri: str | None = None
