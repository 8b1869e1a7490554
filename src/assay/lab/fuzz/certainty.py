"""Which bodies every server must read alike. Of anything else no answer is expected, and none is wrong.

RFC 8259 leaves names that occur twice, halves of surrogate pairs, and bounds of size, depth and numbers to
the reader; so a server may refuse these as no JSON, or read them in its own way.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Final

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, VERSION_KEY
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import SENTINEL, Trace
from assay.lab.harness.trace.unexplained_error import is_sound
from assay.revisions.revision import Opening

LONGEST: Final = 32 * 1024
DEEPEST: Final = 16
EXACT: Final = 2**53
LISTENING: Final = frozenset({"subscriptions/listen"})
"""Requests whose answer comes when the client has had enough."""
CANCELLED: Final = "notifications/cancelled"


class _Odd(ValueError):
    """Something that readers of JSON may differ about."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Odd
    return made


def _constant(name: str) -> Any:
    raise _Odd(name)


_read: Final = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant).decode


@lru_cache(4096)
def is_certain(body: bytes) -> bool:
    """Whether it is JSON that nobody can read in another way."""
    if len(body) > LONGEST or body.startswith(b"\xef\xbb\xbf"):
        return False
    try:
        return _plain(_read(body.decode()), 0)
    except (ValueError, RecursionError):
        return False


@lru_cache(4096)
def is_no_json(body: bytes) -> bool:
    """Whether nobody can take it for JSON: where Python's lenient reader gives up on short, plain text."""
    # An array is recognised by its first byte, and may be refused for that.
    if not body.strip() or len(body) > LONGEST or b"\x00" in body or b"\n" in body or body[:1] == b"[":
        return False
    try:
        json.loads(body.decode("ascii"))
    except json.JSONDecodeError:
        return max(body.count(b"["), body.count(b"{")) <= DEEPEST
    except (ValueError, RecursionError):
        pass  # other bytes than ASCII, numbers without end: some can read them
    return False


def _plain(value: Any, depth: int) -> bool:
    if depth > DEEPEST:
        return False
    match value:
        case bool() | None:
            return True
        case int():
            return abs(value) < EXACT
        case float():
            return abs(value) < EXACT
        case str():
            return value.isascii() or not any("\ud800" <= one <= "\udfff" for one in value)
        case list():
            return all(_plain(one, depth + 1) for one in value)
        case _:
            return all(_plain(key, 0) and _plain(one, depth + 1) for key, one in value.items())


def is_clear(trace: Trace) -> bool:
    """Whether all that the driver said can be read in one way only; frames of its own making hide it."""
    if any(one.kind is Kind.CONTROL and one.sender is Sender.DRIVER for one in trace.frames):
        return False
    return all(is_certain(one.body) for one in trace.messages if not one.by_subject)


def is_owed(message: Message) -> bool:
    """Whether a request must be answered, as far as it shows by itself."""
    sound = message.problem is None and is_sound(message) and is_certain(message.body)
    return sound and message.method not in LISTENING


def is_sentinel(message: Message) -> bool:
    return isinstance(message.id, str) and message.id.startswith(SENTINEL)


def is_declared(trace: Trace) -> bool:
    """Whether every request names this revision, where each has to name one; else it may be of another."""
    if trace.revision.opening is Opening.HANDSHAKE:
        return True
    asked = [
        one for one in trace.messages if not one.by_subject and "method" in one.fields and "id" in one.fields
    ]
    return all(_version(one) == trace.revision.date for one in asked)


def _version(message: Message) -> Any:
    """The revision that a request names, if it says all that it has to say."""
    meta = message.params.get("_meta")
    fields = meta if isinstance(meta, dict) else {}
    return fields.get(VERSION_KEY) if CAPABILITIES_KEY in fields else None
