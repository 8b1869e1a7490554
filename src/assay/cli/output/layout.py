"""Text on a terminal: wrapped to its width. In a pipe, lines stay whole."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Final

MOST: Final = 110
"""Columns, however wide the terminal is: longer lines are hard to read."""
LONGEST: Final = 20_000
"""Characters of a line that is wrapped: for a word without end, wrapping takes long."""


def width() -> int | None:
    """The columns to use; None in a pipe."""
    if not sys.stdout.isatty():
        return None
    from shutil import get_terminal_size

    return min(get_terminal_size().columns, MOST)


def indented(text: str, indent: str, columns: int | None, hanging: str = "") -> Iterator[str]:
    """The lines of a text, each with this indent; the rest of a wrapped line with `hanging` more."""
    for line in text.strip().splitlines():
        if columns is None or len(line) + len(indent) <= columns or len(line) > LONGEST:
            yield f"{indent}{line}".rstrip()
        else:
            yield from _wrapped(line, indent, hanging, columns)


def _wrapped(line: str, indent: str, hanging: str, columns: int) -> list[str]:
    from textwrap import wrap

    inner = f"{indent}{hanging}{line[: len(line) - len(line.lstrip())]}"
    return wrap(line, max(columns, len(inner) + 20), initial_indent=indent, subsequent_indent=inner)


def table(rows: Iterable[tuple[str, str]], indent: str = "  ") -> Iterator[str]:
    """Two columns."""
    rows = list(rows)
    first = min(max((len(left) for left, _ in rows), default=0), 30)
    for left, right in rows:
        yield f"{indent}{left:<{first}}  {right}".rstrip()
