"""Requests that we sent and that are not answered yet."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec
from msgspec import UNSET, Raw, Struct

from assay.model.error import AskError
from assay.model.jsonrpc import Envelope

# Distinguishes our ids from the client's, in logs and in clients that confuse the two directions.
PREFIX = "assay-"


class Waiter(Protocol):
    """Receives the answer to a request, such as an `asyncio.Future`."""

    def done(self) -> bool: ...
    def set_result(self, result: Raw, /) -> None: ...
    def set_exception(self, exception: BaseException, /) -> None: ...


class _ReceivedError(Struct):
    code: int = 0
    message: str = ""
    data: Any = None


class Correlation:
    """Ids and waiters of our requests. Ids are never reused: a late duplicate must not settle a newer one."""

    __slots__ = ("_closed", "_last", "_waiting")

    def __init__(self) -> None:
        self._last = 0
        self._waiting: dict[str, Waiter] = {}
        self._closed = False

    def __len__(self) -> int:
        return len(self._waiting)

    def ask(self, waiter: Waiter) -> str:
        """Return the id to send. The waiter is settled by the answer or by `close`, unless forgotten."""
        if self._closed:
            raise AskError("the client is gone")
        self._last += 1
        request_id = f"{PREFIX}{self._last}"
        self._waiting[request_id] = waiter
        return request_id

    def settle(self, message: Envelope) -> bool:
        """Pass a response to its waiter. Returns False if its id was never sent.

        A response that arrives after `forget` is valid, and ignored.
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
        # Check the length first: `int` raises for thousands of digits.
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
