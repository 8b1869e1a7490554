"""A connection of the generator. It sends operations, and reports how each ended."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Final, Protocol

import msgspec
from msgspec import Struct

from assay.lab.harness.driver.message_meta import CLIENT
from assay.model.limits import Limits
from assay.revisions.revision import Opening, Revision

from .operation import FIRST_ID, EncodedOperation, Operation

now = time.monotonic_ns
"""The clock of all measurements. Processes on one machine share it."""
MOST_BYTES: Final = Limits().message_bytes
"""Of one message of the server."""


class Receiver(Protocol):
    """What a wire reports to."""

    def completed(self, wire: Wire, operation: Operation, intended: int, at: int, error: str | None) -> None:
        """An operation ended at this time: with its answer, or an error of this kind."""

    def message(self, operation: Operation, sent: int, previous: int, at: int, message: bytes) -> None:
        """A message of a stream arrived before the answer; `previous` is when the one before it did, or 0."""


class OpeningFailed(Exception):
    """A session could not be opened; the text is the kind of error."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}" if self.detail else self.kind


class WireSettings(Struct, frozen=True):
    """What all connections of a run share."""

    revision: Revision
    operations: Mapping[str, EncodedOperation]
    """By the name of the operation."""
    timeout: float
    """Seconds for one answer, and for opening a session."""


class Wire(Protocol):
    capacity: int
    """Operations that can be in progress at once."""

    lost_session: bool
    """Whether the server no longer knows the session."""

    async def open(self) -> None:
        """Connect, and open a session as the revision requires.

        Raises:
            OpeningFailed: it did not work.
        """

    async def reconnect(self) -> None:
        """Connect again, in the same session if there is one.

        Raises:
            OpeningFailed: it did not work.
        """

    def refresh(self) -> None:
        """Use new headers: a token may have been replaced."""

    def send(self, operation: Operation, intended: int) -> None:
        """Send an operation; `intended` is when it should have been sent."""

    def expire(self, before: int) -> None:
        """End operations that were sent before this time, with a time-out."""

    def abort(self) -> None:
        """End the connection now. Operations in progress are reported as reset."""

    async def close(self) -> None:
        """End the session and the connection, politely where that is quick."""

    @property
    def in_flight(self) -> int: ...

    @property
    def is_usable(self) -> bool:
        """Whether an operation can be sent now."""

    @property
    def process_id(self) -> int | None:
        """The process of the server, if this wire started it."""


def opening_messages(revision: Revision) -> tuple[bytes, bytes | None]:
    """The request that opens a conversation, and the notification after it."""
    if revision.opening is Opening.PER_REQUEST:
        # Nothing has to be opened; this shows that the server is there and supports the revision.
        from .operation import encode, message_bytes

        discover = Operation(kind="sessions", name="server/discover", method="server/discover")
        return message_bytes(encode(discover, revision), FIRST_ID), None
    params: dict[str, Any] = {"protocolVersion": revision.date, "capabilities": {}, "clientInfo": CLIENT}
    request = {"jsonrpc": "2.0", "id": FIRST_ID, "method": "initialize", "params": params}
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    return msgspec.json.encode(request), msgspec.json.encode(notification)


async def within(seconds: float, work: Any) -> Any:
    """
    Raises:
        OpeningFailed: it took too long.
    """
    from .error_kind import TIMEOUT

    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError:
        raise OpeningFailed(TIMEOUT) from None
