"""Values inside content blocks: Base64, MIME types, URIs."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from typing import Any, Final

_TOKEN: Final = r"[A-Za-z0-9!#$&^_.+-]+"
_MIME_TYPE: Final = re.compile(rf"{_TOKEN}/{_TOKEN}(\s*;.*)?", re.DOTALL)
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"]+")


def is_base64(value: Any) -> bool:
    """Line breaks are allowed, since some encoders insert them and every decoder accepts them."""
    if not isinstance(value, str):
        return False
    try:
        b64decode("".join(value.split()), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def is_mime_type(value: Any) -> bool:
    return isinstance(value, str) and _MIME_TYPE.fullmatch(value) is not None


def is_uri(value: Any) -> bool:
    """Whether the value is an absolute URI."""
    return isinstance(value, str) and _URI.fullmatch(value) is not None
