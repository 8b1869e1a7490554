"""One form of JSON: keys sorted, no spaces, UTF-8, no number that JSON does not have.

Whatever is signed has this form, and only this form is read: then each byte counts, no key comes twice, and
to write again what was read gives the same bytes. It is not RFC 8785, which writes some numbers otherwise.
"""

from __future__ import annotations

import json
from typing import Any, Final

MAX_BYTES: Final = 32 * 1024 * 1024
"""The largest document that is read: a manifest of a hundred thousand files takes some half of it."""


class NotCanonical(ValueError):
    """These bytes, or this value, have no place among signed documents; the text says why."""


def encode(value: object) -> bytes:
    """
    Raises:
        NotCanonical: JSON cannot say this, or would say it otherwise.
    """
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise NotCanonical(f"no canonical JSON: {error}") from error


def decode(data: bytes, limit: int = MAX_BYTES) -> Any:
    """
    Raises:
        NotCanonical: too long, no JSON, or JSON in another form than `encode` writes.
    """
    if len(data) > limit:
        raise NotCanonical(f"{len(data)} bytes, which is more than {limit}")
    try:
        value = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise NotCanonical(f"no JSON: {error}") from error
    if encode(value) != data:
        raise NotCanonical("JSON in another form: keys sorted and given once, no spaces, UTF-8")
    return value
