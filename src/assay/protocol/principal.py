"""What stored state says about whom it belongs to."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

_encode_sorted = msgspec.json.Encoder(order="sorted").encode


def digest_of_principal(principal: Any) -> str:
    """The owner of stored state; empty for callers that are not authenticated."""
    return "" if principal is None else digest(principal)


def digest(value: Any) -> str:
    """A short digest that is the same in every process. A value that is not JSON is digested as its `str`."""
    try:
        encoded = _encode_sorted(msgspec.json.decode(value) if isinstance(value, Raw) else value)
    except (TypeError, NotImplementedError):
        encoded = str(value).encode()
    from hashlib import blake2s

    return blake2s(encoded, digest_size=12).hexdigest()
