"""Reading a request's body, within its limits."""

from __future__ import annotations

import asyncio
from types import CoroutineType
from typing import Any

from assay.model.limits import Limits
from assay.protocol.http.gate import Refusal
from assay.protocol.stepping import Resumed

from .types import Message, Receive


class ClientGone(Exception):
    """The client hung up before it had sent its whole request."""


async def read_body(receive: Receive, declared: bytes | None, limits: Limits) -> bytes | Refusal:
    """
    Raises:
        ClientGone: there is nobody left to answer.
    """
    # Only so many digits are read: `int` refuses thousands of them.
    if declared is not None and declared.isdigit() and int(declared[:20]) > limits.message_bytes:
        return _too_large(limits)
    arriving: Any = receive()
    message: Message | None = None
    if type(arriving) is CoroutineType:
        # The first part has nearly always arrived by now, and then no timer is needed.
        try:
            arriving = Resumed(arriving, arriving.send(None))
        except StopIteration as arrived:
            message = arrived.value
    if message is None:
        try:
            async with asyncio.timeout(limits.body_timeout):
                message = await arriving
        except TimeoutError:
            return _too_slow(limits)
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


def _too_slow(limits: Limits) -> Refusal:
    # What is still to come of the body would be in the way of the next request (RFC 9110, 15.5.9).
    return Refusal(408, f"body did not arrive within {limits.body_timeout:g} s", ((b"connection", b"close"),))


def _too_large(limits: Limits) -> Refusal:
    return Refusal(413, f"body too large: limit {limits.message_bytes} bytes")
