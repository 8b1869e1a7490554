"""Text for messages about types and values: one line of bounded length."""

from __future__ import annotations

from typing import Any, Final, get_args

LONGEST: Final = 400
"""Characters of a message that quotes a value, which must not fill the context of the client's model."""


def one_line(text: str) -> str:
    """A text in one line, without its middle if it is long."""
    if len(text) > 4 * LONGEST:
        text = f"{text[: 2 * LONGEST]} … {text[-2 * LONGEST :]}"
    line = " ".join(text.split())
    if len(line) <= LONGEST:
        return line
    return f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"


def type_name(annotation: Any) -> str:
    """A type as its author wrote it, in one line."""
    if isinstance(annotation, type) and not get_args(annotation):
        return annotation.__qualname__.rpartition(".<locals>.")[2]
    return one_line(str(annotation).replace("typing.", ""))
