"""Values that programs stumble over, and how they are written: as JSON, or as what only looks like it."""

from __future__ import annotations

import json
from typing import Any, Final

from msgspec import Struct

from .choice import Choices

# Numbers of repetitions: enough for a parser that recurses, and for buffers of usual sizes.
DEEP: Final = 2_000
LONG: Final = 70_000


class Raw(Struct, frozen=True):
    """A text that stands where a value should, written as it is."""

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
    tuple(Raw(text) for text in SPELLINGS),
    tuple(Raw(text) for text in NESTS),
)
PLAIN: Final = KINDS[:4]
"""Those that are values, and not only texts of some."""
LETTERS: Final = ("a", "b", "0", "-", "_", ".", "/", " ", "é", "世", "\ud800", "\x00", '"', "\\")


def odd_value(choices: Choices) -> Any:
    return choices.pick(choices.pick(KINDS))


def plain_value(choices: Choices) -> Any:
    return choices.pick(choices.pick(PLAIN))


def odd_text(choices: Choices) -> str:
    return choices.text(LETTERS, 6) if choices.chance(4) else choices.pick(TEXTS)


def write(value: Any) -> str:
    """As JSON, in ASCII: a half of a surrogate pair is an escape, which is JSON all the same."""
    match value:
        case Raw(text):
            return text
        case dict():
            return "{" + ",".join(f"{write(key)}:{write(one)}" for key, one in value.items()) + "}"
        case list() | tuple():
            return "[" + ",".join(map(write, value)) + "]"
    return json.dumps(value)
