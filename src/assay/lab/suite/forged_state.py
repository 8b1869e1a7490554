"""Request states that a server never gave out, made from one that it did."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator


def forgeries(state: str) -> list[str]:
    """The state with one character changed; and, where it can be read, with something put into it."""
    middle = len(state) // 2
    other = "A" if state[middle : middle + 1] != "A" else "B"
    return [f"{state[:middle]}{other}{state[middle + 1 :]}", *_rewritten(state)]


def _rewritten(state: str) -> Iterator[str]:
    head, dot, rest = state.partition(".")
    if (plain := _with_more(state.encode())) is not None:
        yield plain.decode()
    elif (inside := _with_more(_decoded(head))) is not None:
        yield f"{urlsafe_b64encode(inside).decode()}{dot}{rest}"


def _with_more(text: bytes) -> bytes | None:
    """A JSON object with a member more; none where it is no JSON object."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return json.dumps({**value, "forged": True}).encode() if isinstance(value, dict) else None


def _decoded(text: str) -> bytes:
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return b""
