"""Reads the answer to a request: a result, or the kind of its error. Only what is counted is decoded."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from assay.model.send_time import SENT_AT

from .error_kind import INVALID, TOOL, rpc_code

IN_MESSAGE: Final = re.compile(r"\bmonotonic_ns=(\d{1,19})\b")
"""In the `message` of a progress notification: when the server sent it, by the clock of its machine."""
_SENT_AT: Final = SENT_AT.encode()


class ErrorFields(Struct):
    code: int


class ResultFields(Struct):
    isError: bool = False


class Answer(Struct):
    id: Any = None
    method: str | UnsetType = UNSET
    result: ResultFields | UnsetType = UNSET
    error: ErrorFields | UnsetType = UNSET


class ProgressMeta(Struct):
    sent_at: int | None = msgspec.field(name=SENT_AT, default=None)


class ProgressFields(Struct):
    progressToken: Any = None
    message: str = ""
    meta: ProgressMeta = msgspec.field(name="_meta", default_factory=ProgressMeta)


class Notification(Struct):
    method: str
    params: ProgressFields = msgspec.field(default_factory=ProgressFields)


_answers: Final = msgspec.json.Decoder(Answer)
_notifications: Final = msgspec.json.Decoder(Notification)


def read_answer(message: bytes) -> Answer | None:
    """None if it is not a JSON-RPC message."""
    try:
        return _answers.decode(message)
    except (msgspec.DecodeError, RecursionError):  # invalid UTF-8 is a DecodeError too
        return None


def error_of(answer: Answer | None, request_id: int) -> str | None:
    """The kind of error; none for a result."""
    if answer is None or answer.method is not UNSET:
        return INVALID
    if answer.error is not UNSET:
        return rpc_code(answer.error.code)
    if answer.result is UNSET or answer.id != request_id:
        return INVALID
    return TOOL if answer.result.isError else None


def sent_at(message: bytes) -> int | None:
    """When the server sent a progress notification, in nanoseconds, if it says so."""
    if b"monotonic_ns=" not in message and _SENT_AT not in message:
        return None
    try:
        params = _notifications.decode(message).params
    except (msgspec.DecodeError, RecursionError):
        return None
    if params.meta.sent_at is not None:
        return params.meta.sent_at
    match = IN_MESSAGE.search(params.message)
    return int(match[1]) if match else None


def token_of(message: bytes) -> Any:
    """The progress token of a notification; None if it has none."""
    try:
        return _notifications.decode(message).params.progressToken
    except (msgspec.DecodeError, RecursionError):
        return None
