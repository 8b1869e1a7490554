"""Values that often cause bugs, written as JSON or as text that only resembles JSON."""

from __future__ import annotations

import json
from typing import Any, Final

from msgspec import Struct

from .choice import Choices

# Repetitions that are enough to overflow recursive parsers and buffers of common sizes.
DEEP: Final = 2_000
LONG: Final = 70_000


class RawJson(Struct, frozen=True):
    """Text that is written unchanged in place of a value."""

    text: str


TEXTS: Final = (
    "",
    "a",
    "\ud800",
    "\udc00\ud800",
    " ",
    "\x00",
    "\n",
    "\r\n",
    "\u2028",
    "ä世🦊",
    "\ufeff",
    "\uffff",
    "../../etc/passwd",
    "%00",
    "{{}}",
    "${x}",
    "'; --",
    "__proto__",
    "constructor",
    "null",
    "-1",
    "1e9",
    "a" * 300,
    "a" * LONG,
)
NUMBERS: Final = (0, 1, -1, 0.5, -0.0, 2**31, -(2**31) - 1, 2**53, 2**63, 2**64, -(2**63) - 1, 10**30, 1e308)
SPELLINGS: Final = ("1e999", "-0", "1E400", "9" * 5000, "1." + "0" * 400, "0.1e-400", "NaN", "01", "1_000")
CONTAINERS: Final[tuple[Any, ...]] = ([], {}, [None], {"": None}, [[[]]], {"a": {"a": {}}}, [0] * 300)
NESTS: Final = (
    "[" * DEEP + "]" * DEEP,
    '{"a":' * DEEP + "0" + "}" * DEEP,
    "[" * DEEP,
    '{"a":1,"a":2}',
    '{"":0,"":0}',
)
KINDS: Final[tuple[tuple[Any, ...], ...]] = (
    (None, True, False),
    TEXTS,
    NUMBERS,
    CONTAINERS,
    tuple(RawJson(text) for text in SPELLINGS),
    tuple(RawJson(text) for text in NESTS),
)
PLAIN: Final = KINDS[:4]
"""The kinds that are values, not raw text."""
LETTERS: Final = ("a", "b", "0", "-", "_", ".", "/", " ", "é", "世", "\ud800", "\x00", '"', "\\")


def odd_value(choices: Choices) -> Any:
    return choices.pick(choices.pick(KINDS))


def plain_value(choices: Choices) -> Any:
    return choices.pick(choices.pick(PLAIN))


def odd_text(choices: Choices) -> str:
    return choices.text(LETTERS, 6) if choices.chance(4) else choices.pick(TEXTS)


def write(value: Any) -> str:
    """Encode as JSON in ASCII, in which a lone surrogate is an escape sequence."""
    match value:
        case RawJson(text):
            return text
        case dict():
            return "{" + ",".join(f"{write(key)}:{write(member)}" for key, member in value.items()) + "}"
        case list() | tuple():
            return "[" + ",".join(map(write, value)) + "]"
    return json.dumps(value)
