"""A single HTTP request outside the recorded conversation with the subject."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from .broken_off import NoAnswer
from .http_call import Address, HeadRead, PieceRead, connect, read_response
from .http_text import write_request
from .identity import DEFAULT_IDENTITY, Identity

PATIENCE: Final = 10.0
MOST: Final = 1024 * 1024


class Answer(Struct, frozen=True):
    status: int = 0
    """0 if no response came."""
    body: bytes = b""

    @property
    def object(self) -> dict[str, Any]:
        """The JSON object in the body; empty if there is none."""
        try:
            value = msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return {}
        return value if isinstance(value, dict) else {}


async def fetch(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes = b"",
    identity: Identity = DEFAULT_IDENTITY,
) -> Answer:
    """
    Raises:
        ValueError: the URL is not usable.
        BrokenOff: no connection, or no answer in time.
    """
    address = Address.of(url)
    reader, writer = await connect(address, PATIENCE, identity)
    own = {"Host": address.authority, "Connection": "close", "Content-Length": str(len(body))}
    try:
        async with asyncio.timeout(PATIENCE):
            writer.write(write_request(method, address.target, {**own, **headers}.items(), body))
            return await _answer(reader, method)
    except TimeoutError:
        raise NoAnswer(f"{method} {address.authority}", PATIENCE) from None
    finally:
        writer.close()


async def _answer(reader: asyncio.StreamReader, method: str) -> Answer:
    status, body = 0, b""
    async for part in read_response(reader, method):
        match part:
            case HeadRead(_, head):
                status = head.status
            case PieceRead(data) if len(body) < MOST:
                body += data
    return Answer(status, body)
