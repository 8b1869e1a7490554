"""TOML that a stranger may have written, as in a bundle of evidence or a golden run.

The parser of the standard library needs time in the square of a dotted key's parts: 32 KB of `a.a.a…` take
seconds. All else that was measured is linear, so the parts are bounded, and the size.
"""

from __future__ import annotations

import tomllib
from typing import Any, Final

LARGEST: Final = 256 * 1024
"""Bytes of a document; those of Assay have 20 KB."""
DOTS: Final = 64
"""Dots in one line, and so in one key: a key cannot contain a line break."""


class BadToml(ValueError):
    """Not TOML, or more than is read; the message gives the cause."""


def parse_toml(data: bytes) -> dict[str, Any]:
    """
    Raises:
        BadToml: it is too large, not TOML, or nested too deeply.
    """
    if len(data) > LARGEST:
        raise BadToml(f"larger than {LARGEST} bytes")
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.count(b".") > DOTS:
            raise BadToml(f"line {number} has more than {DOTS} dots: write shorter keys, or several lines")
    try:
        return tomllib.loads(data.decode())
    except RecursionError:
        raise BadToml("not TOML: nested too deeply") from None
    except ValueError as error:  # also of an integer with thousands of digits
        raise BadToml(f"not TOML: {error}") from error
