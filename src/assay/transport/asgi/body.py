"""Reading a request's body, within its limits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from types import CoroutineType
from typing import Any, Final

from assay.model.limits import Limits
from assay.protocol.http.asgi import Message, Receive, Transmit
from assay.protocol.http.gate import Refusal
from assay.protocol.stepping import Resumed


class ClientGone(Exception):
    """The client hung up before it had sent its whole request."""


def at_hand(
    transmit: Transmit, receive: Receive, headers: dict[bytes, bytes], limits: Limits
) -> bytes | Message | Awaitable[Message]:
    """The body if it is here as a whole and within its limit, as it nearly always is; else its first
    part, or what to await for that."""
    whole: bytes | None = None
    if getattr(receive, "__self__", None) is transmit:  # else somebody between changes what is received
        whole = getattr(transmit, "whole", None)  # see `Direct`
    if whole is None:
        first = _first_part(receive)
        # Seven digits are under 10 MB; a longer number is looked at by `read_body`.
        huge = len(headers.get(b"content-length", b"")) > 7
        if type(first) is not dict or huge or first.get("more_body") or "body" not in first:
            return first
        whole = first["body"]
    return whole if len(whole) <= limits.message_bytes else {"type": "http.request", "body": whole}


def _first_part(receive: Receive) -> Message | Awaitable[Message]:
    arriving: Any = receive()
    if type(arriving) is CoroutineType:
        try:
            return Resumed(arriving, arriving.send(None))
        except StopIteration as arrived:
            message: Message = arrived.value
            return message
    awaited: Awaitable[Message] = arriving
    return awaited


async def read_body(
    first: Message | Awaitable[Message], receive: Receive, declared: bytes, limits: Limits
) -> bytes | Refusal:
    """The whole body, from its first part on.

    Raises:
        ClientGone: there is nobody left to answer.
    """
    # Only so many digits are read: `int` refuses thousands of them.
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
        raise ClientGone
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
                    raise ClientGone
                chunk: bytes = message.get("body", b"")
                chunks.append(chunk)
                size += len(chunk)
                if size > limits.message_bytes:
                    return _too_large(limits)
                more = message.get("more_body", False)
    except TimeoutError:
        return _too_slow(limits)
    return b"".join(chunks)


# What is still to come of a body would be in the way of the next request (RFC 9110, 15.5.9 and 15.5.14).
CLOSE: Final = ((b"connection", b"close"),)


def _too_slow(limits: Limits) -> Refusal:
    return Refusal(408, f"body did not arrive within {limits.body_timeout:g} s", CLOSE)


def _too_large(limits: Limits) -> Refusal:
    return Refusal(413, f"body too large: limit {limits.message_bytes} bytes", CLOSE)
