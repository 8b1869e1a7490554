"""Classes of the standard library whose values are strings in JSON."""

from __future__ import annotations

import ipaddress
import pathlib
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple


class TextType(NamedTuple):
    read: Callable[[str], Any]
    write: Callable[[Any], str]
    format: str


LONGEST_PATTERN: Final = 4096
"""Characters. Python keeps 512 compiled patterns, which clients could fill with long ones."""
MOST_RANGES: Final = 8
"""Ranges of characters outside ASCII. Python takes up to 5 ms to compile one."""
_RANGE: Final = re.compile(r"-[^\x00-\x7f]|-\\[xuUN0-7]")


def _compile(text: str) -> re.Pattern[str]:
    if len(text) > LONGEST_PATTERN:
        raise ValueError(f"a regular expression has at most {LONGEST_PATTERN} characters")
    if len(_RANGE.findall(text)) > MOST_RANGES:
        raise ValueError(f"a regular expression has at most {MOST_RANGES} ranges outside ASCII")
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"invalid regular expression: {error}") from None


_OWN_PATH: Final = type(pathlib.Path())
_PATHS: Final = (pathlib.PurePath, pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.Path, _OWN_PATH)
_ADDRESSES: Final = {
    ipaddress.IPv4Address: "ipv4",
    ipaddress.IPv6Address: "ipv6",
    ipaddress.IPv4Network: "ipv4network",
    ipaddress.IPv6Network: "ipv6network",
    ipaddress.IPv4Interface: "ipv4interface",
    ipaddress.IPv6Interface: "ipv6interface",
}

TEXT_TYPES: Final[dict[Any, TextType]] = {
    **{cls: TextType(cls, str, "path") for cls in _PATHS},
    **{cls: TextType(cls, str, name) for cls, name in _ADDRESSES.items()},
    re.Pattern: TextType(_compile, lambda pattern: str(pattern.pattern), "regex"),
}
