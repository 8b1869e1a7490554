"""Digests in the format of the marketplace profile. The lab shares no code with a subject."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any, Final

import rfc8785

FORM: Final = re.compile(r"sha256:[0-9a-f]{64}")
DESCRIPTION: Final = "sha256: and 64 hexadecimal digits"


def digest_of(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


def canonical_json(value: Any) -> bytes | None:
    """RFC 8785; None if it cannot express the value, such as infinity."""
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, TypeError, ValueError, RecursionError):
        return None


def digest_of_json(value: Any) -> str | None:
    """The digest of the canonical form, or None if there is none."""
    data = canonical_json(value)
    return None if data is None else digest_of(data)


def is_digest(value: Any) -> bool:
    return isinstance(value, str) and FORM.fullmatch(value) is not None
