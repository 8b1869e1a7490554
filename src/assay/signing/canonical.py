"""Canonical JSON: sorted keys, no whitespace, UTF-8, no NaN or infinity.

Signed documents have this form, and no other is accepted. So every byte is covered, no key occurs twice, and
re-encoding a decoded document yields the same bytes. Unlike RFC 8785, numbers are written as Python does.
"""

from __future__ import annotations

import json
from typing import Any, Final

MAX_BYTES: Final = 32 * 1024 * 1024
"""The largest document to read; a manifest of a hundred thousand files takes about half of it."""


class NotCanonical(ValueError):
    """The value has no canonical form, or the bytes are not in it."""


def encode(value: object) -> bytes:
    """
    Raises:
        NotCanonical: The value cannot be written as canonical JSON.
    """
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise NotCanonical(f"not representable as canonical JSON: {error}") from error


def decode(data: bytes, limit: int = MAX_BYTES) -> Any:
    """
    Raises:
        NotCanonical: The document is too long, not JSON, or not as `encode` writes it.
    """
    if len(data) > limit:
        raise NotCanonical(f"{len(data)} bytes, which is more than {limit}")
    try:
        value = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise NotCanonical(f"not JSON: {error}") from error
    if encode(value) != data:
        raise NotCanonical("not canonical JSON: keys must be sorted and unique, without whitespace, in UTF-8")
    return value
