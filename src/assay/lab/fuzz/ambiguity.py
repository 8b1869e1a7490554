"""Which bodies every server must read in the same way. For others, any answer is right, and so is none.

RFC 8259 leaves duplicate names, lone surrogates, and limits of size, depth and numbers to the parser: it may
refuse such a body as invalid JSON, or interpret it in its own way.
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
"""Requests that are answered only when the client ends them."""
CANCELLED: Final = "notifications/cancelled"


class _Ambiguous(ValueError):
    """JSON parsers may differ here."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Ambiguous
    return members


def _constant(name: str) -> Any:
    raise _Ambiguous(name)


_read: Final = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant).decode


@lru_cache(4096)
def is_unambiguous(body: bytes) -> bool:
    """Whether the body is JSON that every parser reads in the same way."""
    if len(body) > LONGEST or body.startswith(b"\xef\xbb\xbf"):
        return False
    try:
        return _plain(_read(body.decode()), 0)
    except (ValueError, RecursionError):
        return False


@lru_cache(4096)
def is_invalid_json(body: bytes) -> bool:
    """Whether no parser accepts the body: Python's lenient parser rejects it, and it is short and plain."""
    # A server may refuse an array because of its first byte, without parsing it.
    if not body.strip() or len(body) > LONGEST or b"\x00" in body or b"\n" in body or body[:1] == b"[":
        return False
    try:
        json.loads(body.decode("ascii"))
    except json.JSONDecodeError:
        return max(body.count(b"["), body.count(b"{")) <= DEEPEST
    except (ValueError, RecursionError):
        pass  # non-ASCII bytes and very long numbers: some parsers accept them
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
            return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)
        case list():
            return all(_plain(item, depth + 1) for item in value)
        case _:
            return all(_plain(key, 0) and _plain(item, depth + 1) for key, item in value.items())


def is_clear(trace: Trace) -> bool:
    """Whether every message of the driver is unambiguous, and no raw WebSocket frame may hide another."""
    if any(frame.kind is Kind.CONTROL and frame.sender is Sender.DRIVER for frame in trace.frames):
        return False
    return all(is_unambiguous(message.body) for message in trace.messages if not message.by_subject)


def needs_answer(message: Message) -> bool:
    """Whether a request must be answered, judged by the message alone."""
    sound = message.problem is None and is_sound(message) and is_unambiguous(message.body)
    return sound and message.method not in LISTENING


def is_sentinel(message: Message) -> bool:
    return isinstance(message.id, str) and message.id.startswith(SENTINEL)


def is_declared(trace: Trace) -> bool:
    """Whether every request declares this revision, in revisions in which requests must declare one."""
    if trace.revision.opening is Opening.HANDSHAKE:
        return True
    sent = [message for message in trace.messages if not message.by_subject]
    requests = [message for message in sent if "method" in message.fields and "id" in message.fields]
    return all(_version(request) == trace.revision.date for request in requests)


def _version(message: Message) -> Any:
    """The revision that a request declares, if its metadata is complete."""
    meta = message.params.get("_meta")
    fields = meta if isinstance(meta, dict) else {}
    return fields.get(VERSION_KEY) if CAPABILITIES_KEY in fields else None
