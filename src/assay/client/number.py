"""NaN and the infinities: JSON has none, and msgspec writes null instead, which means something else."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

import msgspec

NEVER_OBJECTS: Final = (str, bytes, int, float, list, tuple, set, frozenset)
PLAIN: Final = frozenset({str, int, bool, type(None)})


def check_numbers(arguments: Mapping[str, Any], name: str, kind: str = "tool ") -> None:
    """Refuse numbers that JSON has none for, in the arguments of a tool or method.

    Raises:
        TypeError: these are no arguments.
        ValueError: an argument is, or has, a number that JSON cannot express.
    """
    if not isinstance(arguments, Mapping):
        if isinstance(arguments, NEVER_OBJECTS):
            raise TypeError(f"the arguments of {kind}{name} must be a dict, not {type(arguments).__name__}")
        return  # what encodes it refuses it
    for key, value in arguments.items():
        if type(value) in PLAIN or (type(value) is float and isfinite(value)):
            continue
        if type(value) is float or _has_null(value):
            place = _place(msgspec.to_builtins(value))
            if place is not None:
                path, number = place
                raise ValueError(
                    f"argument {key}{path} of {kind}{name} is {number}, which JSON cannot express: "
                    "pass None, a text, or leave it out"
                )


def _has_null(value: Any) -> bool:
    """Quick, and nearly always false."""
    try:
        return b"null" in msgspec.json.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False  # the error of sending it says why


def _place(value: Any) -> tuple[str, float] | None:
    """Where the first such number is, as `.points[2]`."""
    if isinstance(value, float):
        return None if isfinite(value) else ("", value)
    if isinstance(value, dict):
        parts = [(f".{key}", item) for key, item in value.items()]
    else:
        items = value if isinstance(value, list | tuple) else ()
        parts = [(f"[{index}]", item) for index, item in enumerate(items)]
    for part, item in parts:
        place = _place(item)
        if place is not None:
            return part + place[0], place[1]
    return None
