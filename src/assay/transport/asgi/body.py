"""Reading a request's body, within its limits."""

from __future__ import annotations

import asyncio

from assay.model.limits import Limits
from assay.protocol.http.gate import Refusal

from .types import Receive


class ClientGone(Exception):
    """The client hung up before it had sent its whole request."""


async def read_body(receive: Receive, declared: bytes | None, limits: Limits) -> bytes | Refusal:
    """
    Raises:
        ClientGone: there is nobody left to answer.
    """
    if declared is not None and declared.isdigit() and int(declared) > limits.message_bytes:
        return _too_large(limits)
    message = await receive()
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
        return Refusal(408, f"body did not arrive within {limits.body_timeout:g} s")
    return b"".join(chunks)


def _too_large(limits: Limits) -> Refusal:
    return Refusal(413, f"body too large: limit {limits.message_bytes} bytes")
