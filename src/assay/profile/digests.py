"""Digests of canonical JSON, made without taking it apart twice.

msgspec writes what `signing.canonical` writes, except for numbers with a fraction or an exponent: those are
written here as Python writes them. A property test holds the two side by side.
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


def _exactly(text: str) -> Raw:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"no number of JSON: {text[:40]}")
    return Raw(repr(number).encode())


_decode: Final = msgspec.json.Decoder(float_hook=_exactly).decode


def digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


def canonical(raw: bytes | Raw) -> bytes:
    """JSON in its canonical form.

    Raises:
        ValueError: it has none.
    """
    try:
        return _sorted(_decode(raw))
    except (UnicodeError, RecursionError) as error:
        raise ValueError(f"no canonical JSON: {error}") from error


def digest_of_json(raw: bytes | Raw) -> str | None:
    """None for what canonical JSON cannot say, such as 1e999."""
    if bytes(raw) == b"{}":
        return EMPTY_OBJECT
    try:
        return digest(canonical(raw))
    except ValueError:
        return None


def digest_of(value: Any) -> str:
    """Of a value as it goes on the wire.

    Raises:
        ValueError, TypeError: it cannot go there.
    """
    return digest(canonical(encode(value)))


def digest_of_content(content: Sequence[Any]) -> str:
    """Of the content of a tool's result; most of that is plain text, which holds no numbers."""
    if all(type(block) is Text and block.annotations is None and block.meta is None for block in content):
        return digest(_sorted(content))
    return digest_of(content)


def digest_of_effects(effects: Sequence[Any]) -> str:
    """Effects hold whole numbers only."""
    return digest(_sorted(effects)) if effects else EMPTY_LIST
