"""Canonical JSON: RFC 8785, as written by the library `rfc8785`.

Signed documents have this form, and no other is accepted. So every byte is covered, no key occurs twice, and
re-encoding a decoded document yields the same bytes. Documents signed before this module followed RFC 8785
differ in their numbers and in the order of some keys: they are still read, but no longer written.
"""

from __future__ import annotations

import json
from typing import Any, Final

import rfc8785

MAX_BYTES: Final = 32 * 1024 * 1024
"""The largest document to read; a manifest of a hundred thousand files takes about half of it."""


class NotCanonical(ValueError):
    """The value has no canonical form, or the bytes are not in it."""


def encode(value: Any) -> bytes:
    """
    Raises:
        NotCanonical: The value cannot be written as canonical JSON.
    """
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, TypeError, ValueError, RecursionError) as error:
        raise NotCanonical(f"not representable as canonical JSON: {error}") from error


def encode_as_before(value: Any) -> bytes:
    """The form of older documents: numbers as Python writes them, keys by code points.

    Raises:
        NotCanonical: The value cannot be written in this form.
    """
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise NotCanonical(f"not representable as canonical JSON: {error}") from error


def encodes(value: Any, data: bytes) -> bool:
    """Whether the bytes are the value in canonical form, today's or that of older documents."""
    for write in (encode_as_before, encode):  # the faster one first: most documents are the same in both
        try:
            if write(value) == data:
                return True
        except NotCanonical:
            continue
    return False


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
    if not encodes(value, data):
        raise NotCanonical("not canonical JSON: keys must be sorted and unique, without whitespace, in UTF-8")
    return value
