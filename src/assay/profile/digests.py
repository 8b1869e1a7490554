"""Digests of canonical JSON (RFC 8785), without decoding it twice.

msgspec writes the same bytes for most values; numbers with a fraction or an exponent get the form of
ECMAScript, and what RFC 8785 orders or limits differently is written in Python. A property test compares the
result with `signing.canonical`, which uses another implementation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from hashlib import sha256
from typing import Any, Final

import msgspec
from msgspec import Raw

from assay.model.content import Text
from assay.protocol.codec import encode

EMPTY_LIST: Final = f"sha256:{sha256(b'[]').hexdigest()}"
EMPTY_OBJECT: Final = f"sha256:{sha256(b'{}').hexdigest()}"
MAX_INTEGER: Final = 2**53 - 1
"""RFC 8785 takes all numbers for doubles; larger integers would not be exact."""

_sorted: Final = msgspec.json.Encoder(order="sorted").encode
_NEEDS_CARE: Final = re.compile(rb"[0-9]{16}|\\u|[\xf0-\xf4]")
"""Integers that may be too large, and characters beyond the basic plane, which RFC 8785 sorts otherwise."""


def _as_ecmascript(number: float) -> str:
    """A number as `Number.prototype.toString` writes it.

    Raises:
        ValueError: JSON has no such number.
    """
    if number in (float("inf"), float("-inf")):
        raise ValueError("not a JSON number")
    if not number:
        return "0"
    sign = "-" if number < 0 else ""
    _, places, exponent = Decimal(repr(abs(number))).normalize().as_tuple()
    digits = "".join(map(str, places))
    point = len(digits) + int(exponent)
    if len(digits) <= point <= 21:
        return f"{sign}{digits}{'0' * (point - len(digits))}"
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if digits[1:] else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+d}"


def _canonical_float(text: str) -> Raw:
    return Raw(_as_ecmascript(float(text)).encode())


_decode: Final = msgspec.json.Decoder(float_hook=_canonical_float).decode


def _write(value: Any) -> str:
    """
    Raises:
        ValueError: canonical JSON cannot express the value.
    """
    match value:
        case dict():
            members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
            return "{" + ",".join(f"{_write(key)}:{_write(item)}" for key, item in members) + "}"
        case list():
            return "[" + ",".join(map(_write, value)) + "]"
        case float():
            return _as_ecmascript(value)
        case int() if abs(value) > MAX_INTEGER:
            raise ValueError(f"not an exact number: {value}")
    return json.dumps(value, ensure_ascii=False)


def digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


def canonical(raw: bytes | Raw) -> bytes:
    """Rewrite JSON in the form of `signing.canonical`.

    Raises:
        ValueError: It has none.
    """
    try:
        if _NEEDS_CARE.search(raw):
            return _write(json.loads(bytes(raw))).encode()
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
