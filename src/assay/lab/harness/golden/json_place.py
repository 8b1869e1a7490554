"""Positions of values in a JSON text, so that one value can be replaced without changing another byte."""

from __future__ import annotations

from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Final

from msgspec import Struct

ANY: Final = "*"
"""A step that matches any key or index."""
DEEP: Final = "**"
"""A step that matches any number of keys and indices, including zero."""
_BLANK: Final = " \t\n\r"
_decode: Final = JSONDecoder().raw_decode

Steps = tuple[str, ...]


class Span(Struct, frozen=True):
    start: int
    end: int


def steps_of(pointer: str) -> Steps:
    """The steps of a JSON Pointer (RFC 6901), in which `*` and `**` are wildcards.

    Raises:
        ValueError: not a pointer.
    """
    if not pointer.startswith("/"):
        raise ValueError(f"a pointer must begin with a slash: {pointer!r}")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/"))


def is_json(text: str) -> bool:
    try:
        _, end = _decode(text, _skip_blanks(text, 0))
    except (JSONDecodeError, RecursionError, ValueError, IndexError):
        return False
    return _skip_blanks(text, end) == len(text)


def places(text: str, pattern: Steps) -> Iterator[Span]:
    """The positions of the values that match a pattern, in order. The text must be valid JSON."""
    start = _skip_blanks(text, 0)
    return _places(text, Span(start, len(text.rstrip(_BLANK))), (pattern,))


def _places(text: str, at: Span, patterns: tuple[Steps, ...]) -> Iterator[Span]:
    if () in patterns:
        yield at
    elif text[at.start] in "{[":
        for key, member in members(text, at.start):
            if remaining := tuple(_after(patterns, key)):
                yield from _places(text, member, remaining)


def _after(patterns: tuple[Steps, ...], key: str) -> Iterator[Steps]:
    """The remaining steps of the patterns that match a key."""
    for pattern in patterns:
        if pattern[0] == DEEP:
            yield pattern
            yield from _after((pattern[1:],), key) if len(pattern) > 1 else ()
        elif pattern[0] in (ANY, key):
            yield pattern[1:]


def members(text: str, start: int) -> Iterator[tuple[str, Span]]:
    """The members of the object or list that begins at `start`; the keys of a list are its indices."""
    keyed = text[start] == "{"
    at = _skip_blanks(text, start + 1)
    index = 0
    while text[at] not in "}]":
        key = str(index)
        if keyed:
            key, at = _decode(text, at)
            at = _skip_blanks(text, _skip_blanks(text, at) + 1)
        _, end = _decode(text, at)
        yield key, Span(at, end)
        at = _skip_blanks(text, end)
        at = _skip_blanks(text, at + 1) if text[at] == "," else at
        index += 1


def _skip_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at
