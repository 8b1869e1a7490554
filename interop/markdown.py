"""Text from untrusted servers on our pages: short, on one line, and never as markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

WIDTH: Final = 300
"""Characters of a frame that are shown; the trace has the rest."""


def short(line: str) -> str:
    flat = " ".join(line.split())
    return flat if len(flat) <= WIDTH else f"{flat[:WIDTH]} …"


def text(message: str) -> str:
    return " ".join(message.split()).replace("<", "&lt;")


def cell(message: str) -> str:
    return text(message).replace("|", "\\|")


def frames(excerpt: Iterable[str]) -> Iterator[str]:
    """Frames as a code block that their contents cannot close."""
    yield "\n```text"
    yield from (short(line).replace("```", "` ` `") for line in excerpt)
    yield "```\n"
