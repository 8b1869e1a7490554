"""Text that is safe inside a page, whoever wrote it."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from markupsafe import Markup

# Inside a script element only these could end it, or open a comment; JSON has another spelling for each.
_SPELLED: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
# Control characters, and those that turn the direction of the text around them.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def block(value: Any) -> str:
    """A value as JSON, for a script element that is data: ASCII, and nothing in it is markup."""
    text = json.dumps(value, separators=(",", ":"))
    for character, spelling in _SPELLED.items():
        text = text.replace(character, spelling)
    return text


def ticked(text: str) -> Markup:
    """What stands between backticks as code, the rest as text."""
    parts = plain(text).split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if n % 2 else part for n, part in enumerate(parts)
    )


def plain(text: str) -> str:
    """What cannot be seen, spelled out."""
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
