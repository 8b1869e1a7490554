"""Read the body of a request, within its limits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from types import CoroutineType
from typing import Any, Final

from assay.model.limits import Limits
from assay.protocol.coroutine import SuspendedCoroutine
from assay.protocol.http.asgi import Message, Receive
from assay.protocol.http.head_policy import Refusal

from .send import WholeResponseSend


class IncompleteBody(Exception):
    """The client disconnected before it had sent its whole request."""


def body_or_first_part(
    whole_send: WholeResponseSend | None, receive: Receive, headers: dict[bytes, bytes], limits: Limits
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
    return body if len(body) <= limits.message_bytes else {"type": "http.request", "body": body}


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
    first: Message | Awaitable[Message], receive: Receive, declared: bytes, limits: Limits
) -> bytes | Refusal:
    """Read the whole body, from its first part on.

    Raises:
        IncompleteBody: the client has disconnected.
    """
    # `int` raises for thousands of digits, so only the first ones are read.
    if declared.isdigit() and int(declared[:20]) > limits.message_bytes:
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
        return await _read_rest(receive, body, limits)
    return body if len(body) <= limits.message_bytes else _too_large(limits)


async def _read_rest(receive: Receive, first: bytes, limits: Limits) -> bytes | Refusal:
    chunks, size, more = [first], len(first), True
    try:
        async with asyncio.timeout(limits.body_timeout):
            while more:
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


def _too_slow(limits: Limits) -> Refusal:
    return Refusal(408, f"body did not arrive within {limits.body_timeout:g} s", CLOSE)


def _too_large(limits: Limits) -> Refusal:
    return Refusal(413, f"body too large: limit {limits.message_bytes} bytes", CLOSE)
