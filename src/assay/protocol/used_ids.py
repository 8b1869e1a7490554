"""The request ids that a client has used in its session, for servers that refuse to see one twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from assay.model.error import INVALID_REQUEST, RpcError
from assay.model.jsonrpc import RequestId

ENTRY_BYTES: Final = 100
"""Roughly what one id costs beside its text."""
LONGEST: Final = 64
"""Characters of an id that is stored as it is; of a longer one, a digest is."""

WORD: Final = 64
"""Bits of a number that is stored as it is. Larger ones take more memory, and can all have the same hash."""


class UsedIds:
    """The newest ids of one session, bounded in number and bytes: the oldest are forgotten.

    Args:
        most: Ids to remember.
        most_bytes: Bytes that they may take together.
    """

    __slots__ = ("_bytes", "_most", "_most_bytes", "_sizes")

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._sizes: dict[RequestId | bytes, int] = {}
        """The bytes of each id, in the order of their use."""
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._sizes)

    def use(self, request_id: RequestId, reserve: Callable[[int], bool]) -> None:
        """Remember the id of a request.

        Args:
            request_id: The id.
            reserve: Counts bytes of the session, or frees them if negative; false if there is no room.

        Raises:
            RpcError: the id was used before.
        """
        key, size = _stored(request_id)
        if key in self._sizes:
            shown = repr(request_id)[:LONGEST]
            raise RpcError(INVALID_REQUEST, f"id was already used in this session: {shown}; use a new one")
        while self._sizes and (len(self._sizes) >= self._most or self._bytes + size > self._most_bytes):
            reserve(-self._forget_oldest())
        while not reserve(size):
            if not self._sizes:
                return  # other sessions take all of the room
            reserve(-self._forget_oldest())
        self._sizes[key] = size
        self._bytes += size

    def _forget_oldest(self) -> int:
        size = self._sizes.pop(next(iter(self._sizes)))
        self._bytes -= size
        return size


def _stored(request_id: RequestId) -> tuple[RequestId | bytes, int]:
    """What is stored for an id, and the bytes that it takes."""
    if isinstance(request_id, int):
        if request_id.bit_length() <= WORD:
            return request_id, ENTRY_BYTES
        return _digest(b"%x" % request_id)
    if len(request_id) <= LONGEST:
        return request_id, ENTRY_BYTES + len(request_id)
    return _digest(b'"' + request_id.encode("utf-8", "surrogatepass"))


def _digest(text: bytes) -> tuple[bytes, int]:
    from hashlib import sha256

    digest = sha256(text).digest()
    return digest, ENTRY_BYTES + len(digest)
