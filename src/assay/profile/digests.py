"""Digests of canonical JSON, without decoding it twice.

msgspec writes the same bytes as `signing.canonical`, except for numbers with a fraction or an exponent: these
are written as Python does. A property test compares the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec
from msgspec import Raw

from assay.model.content import Text
from assay.protocol.codec import encode

EMPTY_LIST: Final = f"sha256:{sha256(b'[]').hexdigest()}"
EMPTY_OBJECT: Final = f"sha256:{sha256(b'{}').hexdigest()}"

_sorted: Final = msgspec.json.Encoder(order="sorted").encode


def _canonical_float(text: str) -> Raw:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"not a JSON number: {text[:40]}")
    return Raw(repr(number).encode())


_decode: Final = msgspec.json.Decoder(float_hook=_canonical_float).decode


def digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


def canonical(raw: bytes | Raw) -> bytes:
    """Rewrite JSON in the form of `signing.canonical`.

    Raises:
        ValueError: It has none.
    """
    try:
        return _sorted(_decode(raw))
    except (UnicodeError, RecursionError) as error:
        raise ValueError(f"no canonical JSON: {error}") from error


def digest_of_json(raw: bytes | Raw) -> str | None:
    """`None` if canonical JSON cannot represent the value, such as 1e999."""
    if bytes(raw) == b"{}":
        return EMPTY_OBJECT
    try:
        return digest(canonical(raw))
    except ValueError:
        return None


def digest_of(value: Any) -> str:
    """The digest of a value as it is sent.

    Raises:
        ValueError, TypeError: The value cannot be encoded.
    """
    return digest(canonical(encode(value)))


def digest_of_content(content: Sequence[Any]) -> str:
    """The digest of a tool's content. Most of it is plain text without numbers, which is encoded only
    once."""
    if all(type(block) is Text and block.annotations is None and block.meta is None for block in content):
        return digest(_sorted(content))
    return digest_of(content)


def digest_of_effects(effects: Sequence[Any]) -> str:
    """Effects hold integers only, so they need no special encoding."""
    return digest(_sorted(effects)) if effects else EMPTY_LIST
