"""Digests in the format of the marketplace profile. The lab shares no code with a subject."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import Any, Final

FORM: Final = re.compile(r"sha256:[0-9a-f]{64}")
DESCRIPTION: Final = "sha256: and 64 hexadecimal digits"


def digest_of(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


def canonical_json(value: Any) -> bytes | None:
    """Sorted keys, no spaces, UTF-8; None if JSON cannot express the value, such as infinity."""
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return text.encode()
    except (TypeError, ValueError, RecursionError):
        return None


def digest_of_json(value: Any) -> str | None:
    """The digest of the canonical form, or None if there is none."""
    data = canonical_json(value)
    return None if data is None else digest_of(data)


def is_digest(value: Any) -> bool:
    return isinstance(value, str) and FORM.fullmatch(value) is not None
