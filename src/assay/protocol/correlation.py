"""Requests that we sent and that are not answered yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

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
    """Ids and waiters of our requests. Ids are never reused: a late duplicate must not settle a newer one.

    `read_error` makes the exception for an error that was received, and `gone` the one for waiters that get
    no answer any more. The defaults are those of a server that asks its client.
    """

    __slots__ = ("_closed", "_gone", "_last", "_read_error", "_waiting", "prefix")

    def __init__(
        self,
        read_error: Callable[[Raw | UnsetType], Exception] | None = None,
        gone: Callable[[], Exception] | None = None,
    ) -> None:
        self.prefix = PREFIX
        """What ids begin with: several processes that ask the same client need different ones."""
        self._last = 0
        self._waiting: dict[str, Waiter] = {}
        self._closed = False
        self._read_error = read_error or _failure
        self._gone = gone or _client_gone

    def __len__(self) -> int:
        return len(self._waiting)

    def ask(self, waiter: Waiter) -> str:
        """Return the id to send. The waiter is settled by the answer or by `close`, unless forgotten."""
        if self._closed:
            raise self._gone()
        self._last += 1
        request_id = f"{self.prefix}{self._last}"
        self._waiting[request_id] = waiter
        return request_id

    def settle(self, message: Envelope) -> bool:
        """Pass a response to its waiter. Returns False if its id was never sent.

        A response that arrives after `forget` is valid, and ignored.
        """
        if not isinstance(message.id, str):
            return False
        waiter = self._waiting.pop(message.id, None)
        if waiter is None:
            return self._was_sent(message.id)
        if waiter.done():
            return True
        if message.result is not UNSET:
            waiter.set_result(message.result)
        else:
            waiter.set_exception(self._read_error(message.error))
        return True

    def _was_sent(self, request_id: str) -> bool:
        number = request_id.removeprefix(self.prefix)
        # Check the length first: `int` raises for thousands of digits.
        if len(number) > len(str(self._last)) or not number.isdecimal():
            return False
        return request_id == f"{self.prefix}{int(number)}" and 0 < int(number) <= self._last

    def forget(self, request_id: str) -> None:
        self._waiting.pop(request_id, None)

    def fail(self, request_id: str, error: Exception) -> None:
        """Settle one waiter with an error that is not an answer of the peer."""
        waiter = self._waiting.pop(request_id, None)
        if waiter is not None and not waiter.done():
            waiter.set_exception(error)

    def close(self, gone: Callable[[], Exception] | None = None) -> None:
        """Fail all waiters, and refuse new ones. Idempotent; the first reason is kept."""
        if gone is not None and not self._closed:
            self._gone = gone
        self._closed = True
        waiting, self._waiting = self._waiting, {}
        for waiter in waiting.values():
            if not waiter.done():
                waiter.set_exception(self._gone())


def _client_gone() -> AskError:
    return AskError("the client is gone")


def _failure(raw: Raw | UnsetType) -> AskError:
    try:
        error = msgspec.json.decode(b"{}" if isinstance(raw, UnsetType) else raw, type=_ReceivedError)
    except msgspec.DecodeError:
        return AskError("the client answered with a malformed error")
    return AskError(f"the client answered with error {error.code}: {error.message}")
