"""Requests that we sent and whose answers are still due."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec
from msgspec import UNSET, Raw, Struct

from assay.model.error import AskError
from assay.model.jsonrpc import Envelope

# Keeps our ids apart from the client's own, in logs and in clients that mix them up.
PREFIX = "assay-"


class Waiter(Protocol):
    """Whoever waits for an answer; an `asyncio.Future` is one."""

    def done(self) -> bool: ...
    def set_result(self, result: Raw, /) -> None: ...
    def set_exception(self, exception: BaseException, /) -> None: ...


class _ReceivedError(Struct):
    code: int = 0
    message: str = ""
    data: Any = None


class Correlation:
    """Ids and waiters. Ids are never reused, even after an answer: a late duplicate must not
    settle a newer request."""

    __slots__ = ("_closed", "_last", "_waiting")

    def __init__(self) -> None:
        self._last = 0
        self._waiting: dict[str, Waiter] = {}
        self._closed = False

    def __len__(self) -> int:
        return len(self._waiting)

    def ask(self, waiter: Waiter) -> str:
        """The id to send; the waiter is settled by its answer, by `forget` or by `close`."""
        if self._closed:
            raise AskError("the client is gone")
        self._last += 1
        request_id = f"{PREFIX}{self._last}"
        self._waiting[request_id] = waiter
        return request_id

    def settle(self, message: Envelope) -> bool:
        """Hand a response to whoever waits for it. False when its id was never sent.

        An answer that comes after we gave up is in order, and ignored.
        """
        if not isinstance(message.id, str) or not self._was_sent(message.id):
            return False
        waiter = self._waiting.pop(message.id, None)
        if waiter is None or waiter.done():
            return True
        if message.result is not UNSET:
            waiter.set_result(message.result)
        else:
            waiter.set_exception(_failure(message.error))
        return True

    def _was_sent(self, request_id: str) -> bool:
        number = request_id.removeprefix(PREFIX)
        # A longer number was never sent, and `int` refuses to read thousands of digits.
        if len(number) > len(str(self._last)) or not number.isdecimal():
            return False
        return request_id == f"{PREFIX}{int(number)}" and 0 < int(number) <= self._last

    def forget(self, request_id: str) -> None:
        self._waiting.pop(request_id, None)

    def close(self) -> None:
        self._closed = True
        waiting, self._waiting = self._waiting, {}
        for waiter in waiting.values():
            if not waiter.done():
                waiter.set_exception(AskError("the client is gone"))


def _failure(raw: Raw | msgspec.UnsetType) -> AskError:
    try:
        error = msgspec.json.decode(b"{}" if isinstance(raw, msgspec.UnsetType) else raw, type=_ReceivedError)
    except msgspec.DecodeError:
        return AskError("the client answered with a malformed error")
    return AskError(f"the client answered with error {error.code}: {error.message}")
