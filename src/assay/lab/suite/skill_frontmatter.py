"""The YAML block at the beginning of a Markdown file, read for comparison with JSON."""

from __future__ import annotations

import re
from typing import Any, Final

BLOCK: Final = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)", re.DOTALL)
LONGEST: Final = 64 * 1024
"""Characters of a block: the parser reads a few hundred of them in a millisecond."""
NOTHING: Final = ("", "~", "null", "Null", "NULL")
TRUTH: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def frontmatter_of(text: str) -> dict[str, Any] | None:
    """The fields of a file, with scalars as they are written; None without such a block.

    Versions of YAML differ about scalars (numbers, dates, booleans): `says` compares them.
    """
    import yaml

    block = BLOCK.match(text)
    if block is None or len(block[1]) > LONGEST:
        return None
    try:
        fields = yaml.load(block[1], Loader=yaml.BaseLoader)  # every scalar stays text
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    return fields if isinstance(fields, dict) else None


def says(written: Any, value: Any) -> bool:
    """Whether the YAML can be read as this JSON."""
    match written:
        case dict():
            same_keys = isinstance(value, dict) and written.keys() == value.keys()
            return same_keys and all(says(written[key], value[key]) for key in written)
        case list():
            same_length = isinstance(value, list) and len(written) == len(value)
            return same_length and all(map(says, written, value))
    return _reads_as(str(written), value)


def _reads_as(text: str, value: Any) -> bool:
    if value is None:
        return text in NOTHING
    if isinstance(value, bool):
        return TRUTH.get(text.lower()) is value
    if isinstance(value, int | float):
        return _number(text) == value
    return bool(value == text)


def _number(text: str) -> float | None:
    for read in (lambda: int(text, 0), lambda: float(text)):
        try:
            return read()
        except (ValueError, OverflowError):
            continue
    return None
