"""Read the body of a request, within its limits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from types import CoroutineType
from typing import Any, Final

from assay.model.limits import Limits
from assay.protocol.byte_budget import FREE_BYTES, ByteShare
from assay.protocol.coroutine import SuspendedCoroutine
from assay.protocol.http.asgi import Message, Receive
from assay.protocol.http.busy import NO_MEMORY, unavailable
from assay.protocol.http.head_policy import Refusal

from .send import WholeResponseSend


class IncompleteBody(Exception):
    """The client disconnected before it had sent its whole request."""


def size_taken_at_once(limits: Limits) -> int:
    """The limit for `body_or_first_part`: a larger body counts in the byte budget, or is too large."""
    return min(FREE_BYTES, limits.message_bytes)


def body_or_first_part(
    whole_send: WholeResponseSend | None, receive: Receive, headers: dict[bytes, bytes], limit: int
) -> bytes | Message | Awaitable[Message]:
    """The body, if all of it has arrived and it is within the limit, as it nearly always is. Otherwise its
    first part, or an awaitable of that, for `read_body`."""
    body: bytes | None = None
    # A middleware that replaces `receive` changes the body: then it must be read through that.
    if whole_send is not None and receive == whole_send.receive:
        body = whole_send.take_whole_body()
    if body is None:
        first = _first_part(receive)
        # Seven digits are less than 10 MB; `read_body` checks longer numbers.
        huge = len(headers.get(b"content-length", b"")) > 7
        if type(first) is not dict or huge or first.get("more_body") or "body" not in first:
            return first
        body = first["body"]
    return body if len(body) <= limit else {"type": "http.request", "body": body}


def _first_part(receive: Receive) -> Message | Awaitable[Message]:
    """Call `receive` and take one step by hand: if the part has arrived, no timeout has to be set up."""
    receiving: Any = receive()
    if type(receiving) is CoroutineType:
        try:
            return SuspendedCoroutine(receiving, receiving.send(None))
        except StopIteration as returned:
            message: Message = returned.value
            return message
    awaitable: Awaitable[Message] = receiving
    return awaitable


async def read_body(
    first: Message | Awaitable[Message], receive: Receive, declared: bytes, limits: Limits, share: ByteShare
) -> bytes | Refusal:
    """Read the whole body, from its first part on. The caller releases the share.

    Raises:
        IncompleteBody: the client has disconnected.
    """
    # `int` raises for thousands of digits, so only the first ones are read.
    length = int(declared[:20]) if declared.isdigit() else 0
    if length > limits.message_bytes:
        return _too_large(limits)
    if not isinstance(first, dict):
        try:
            async with asyncio.timeout(limits.body_timeout):
                first = await first  # type: ignore[misc]
        except TimeoutError:
            return _too_slow(limits)
    message: Message = first  # type: ignore[assignment]
    if message["type"] == "http.disconnect":
        raise IncompleteBody
    body: bytes = message.get("body", b"")
    if message.get("more_body", False):
        return await _read_rest(receive, body, length, limits, share)
    if len(body) > limits.message_bytes:
        return _too_large(limits)
    return body if share.resize(len(body)) else NO_ROOM


async def _read_rest(
    receive: Receive, first: bytes, length: int, limits: Limits, share: ByteShare
) -> bytes | Refusal:
    chunks, size, more = [first], len(first), True
    try:
        async with asyncio.timeout(limits.body_timeout):
            while True:
                # The declared length counts from the beginning, but not for a client that sends hardly
                # anything. So under load some bodies arrive, instead of none in full.
                if not share.resize(max(size, length) if size > FREE_BYTES else 0):
                    return NO_ROOM
                if not more:
                    break
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise IncompleteBody
                chunk: bytes = message.get("body", b"")
                chunks.append(chunk)
                size += len(chunk)
                if size > limits.message_bytes:
                    return _too_large(limits)
                more = message.get("more_body", False)
    except TimeoutError:
        return _too_slow(limits)
    return b"".join(chunks)


# The unread rest of the body would be taken for the next request (RFC 9110, 15.5.9 and 15.5.14).
CLOSE: Final = ((b"connection", b"close"),)


def closing(refusal: Refusal) -> Refusal:
    """A refusal that also closes the connection."""
    return replace(refusal, headers=(*refusal.headers, *CLOSE))


NO_ROOM: Final = closing(unavailable(NO_MEMORY))


def _too_slow(limits: Limits) -> Refusal:
    return Refusal(408, f"body did not arrive within {limits.body_timeout:g} s", CLOSE)


def _too_large(limits: Limits) -> Refusal:
    return Refusal(413, f"body too large: limit {limits.message_bytes} bytes", CLOSE)
