"""Numbers that a client chose so that all of them have the same hash.

Python's hash of a number is its remainder by a known prime. A set of 10,000 numbers with the same remainder
takes seconds to build, one of 100,000 minutes. Texts are safe: their hashes are random in each process.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from typing import Any, Final

import msgspec

SMALL: Final = 4096
"""Bytes that hold too few numbers to matter."""
MOST_EQUAL: Final = 500
"""Different numbers that may have the hash of another one."""
MOST_DIGITS: Final = 4300
"""Python reads no longer numbers."""
_LARGE_NUMBERS: Final = re.compile(rb"\d{19,}")
_UUIDS: Final = re.compile(rb"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
TEXT: Final = "many numbers were chosen to have the same hash"


def is_hashed(cls: Any, arguments: tuple[Any, ...]) -> bool:
    """Whether a container hashes values that can be numbers."""
    if not isinstance(cls, type):
        return False
    return issubclass(cls, Set) or (issubclass(cls, Mapping) and bool(arguments) and arguments[0] is not str)


def collide(source: bytes) -> bool:
    """Whether too many of the numbers and UUIDs in a text have the same hash."""
    if len(source) <= SMALL:
        return False
    # Sets of texts and of hashes, never of the numbers themselves.
    numbers = set(_LARGE_NUMBERS.findall(source))
    uuids = {digits.replace(b"-", b"").lower() for digits in _UUIDS.findall(source)}
    hashes = {hash(int(digits[:MOST_DIGITS])) for digits in numbers}
    hashes |= {hash(int(digits, 16)) for digits in uuids}
    return len(numbers) + len(uuids) - len(hashes) > MOST_EQUAL


def without_collisions(read: Callable[[Any], msgspec.Struct]) -> Callable[[Any], msgspec.Struct]:
    """A reader of arguments that refuses such numbers. The arguments are JSON, or texts by name."""

    def read_checked(source: Any) -> msgspec.Struct:
        is_json = not isinstance(source, Mapping)
        if collide(bytes(source) if is_json else " ".join(map(str, source.values())).encode()):
            raise msgspec.ValidationError(f"{TEXT} - at `$`")
        return read(source)

    return read_checked
