"""Where in a JSON text the values at a pointer are: for changing one of them, and not a byte besides."""

from __future__ import annotations

from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Final

from msgspec import Struct

ANY: Final = "*"
"""A step of a pattern: any one key or index."""
DEEP: Final = "**"
"""A step of a pattern: any number of keys and indices, none included."""
_BLANK: Final = " \t\n\r"
_decode: Final = JSONDecoder().raw_decode

Steps = tuple[str, ...]


class Span(Struct, frozen=True):
    start: int
    end: int


def steps_of(pointer: str) -> Steps:
    """A JSON Pointer (RFC 6901), in which `*` and `**` may stand for steps.

    Raises:
        ValueError: it is none.
    """
    if not pointer.startswith("/"):
        raise ValueError(f"a pointer begins with a slash: {pointer!r}")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/"))


def is_json(text: str) -> bool:
    try:
        _, end = _decode(text, _skipped(text, 0))
    except (JSONDecodeError, RecursionError, ValueError, IndexError):
        return False
    return _skipped(text, end) == len(text)


def places(text: str, pattern: Steps) -> Iterator[Span]:
    """The values that a pattern leads to, in order. The text must be JSON."""
    start = _skipped(text, 0)
    return _places(text, Span(start, len(text.rstrip(_BLANK))), (pattern,))


def _places(text: str, at: Span, patterns: tuple[Steps, ...]) -> Iterator[Span]:
    if () in patterns:
        yield at
    elif text[at.start] in "{[":
        for key, inside in members(text, at.start):
            if remaining := tuple(_after(patterns, key)):
                yield from _places(text, inside, remaining)


def _after(patterns: tuple[Steps, ...], key: str) -> Iterator[Steps]:
    """What is left of the patterns behind a key."""
    for pattern in patterns:
        if pattern[0] == DEEP:
            yield pattern
            yield from _after((pattern[1:],), key) if len(pattern) > 1 else ()
        elif pattern[0] in (ANY, key):
            yield pattern[1:]


def members(text: str, start: int) -> Iterator[tuple[str, Span]]:
    """What an object or list that begins there holds; keys of a list are its indices."""
    keyed = text[start] == "{"
    at = _skipped(text, start + 1)
    index = 0
    while text[at] not in "}]":
        key = str(index)
        if keyed:
            key, at = _decode(text, at)
            at = _skipped(text, _skipped(text, at) + 1)
        _, end = _decode(text, at)
        yield key, Span(at, end)
        at = _skipped(text, end)
        at = _skipped(text, at + 1) if text[at] == "," else at
        index += 1


def _skipped(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at
