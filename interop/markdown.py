"""What strangers' servers sent, on pages of ours: short, on one line, and never as markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

WIDTH: Final = 300
"""Characters of a frame that are shown: the trace has the rest."""


def short(line: str) -> str:
    flat = " ".join(line.split())
    return flat if len(flat) <= WIDTH else f"{flat[:WIDTH]} …"


def text(said: str) -> str:
    return " ".join(said.split()).replace("<", "&lt;")


def cell(said: str) -> str:
    return text(said).replace("|", "\\|")


def frames(excerpt: Iterable[str]) -> Iterator[str]:
    """Frames as a block that nothing in them can end."""
    yield "\n```text"
    yield from (short(line).replace("```", "` ` `") for line in excerpt)
    yield "```\n"
