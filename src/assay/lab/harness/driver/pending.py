"""A request of the driver, and the answer to it."""

from __future__ import annotations

import asyncio
from typing import Any

from msgspec import Struct

from assay.lab.harness.links.http_text import Head
from assay.lab.harness.links.link import Sent
from assay.lab.harness.trace.message import Message, Shape


class Reply(Struct, frozen=True):
    """The answer to a request; empty if the HTTP response held no message."""

    message: Message | None = None
    head: Head | None = None

    @property
    def result(self) -> dict[str, Any]:
        return self.message.result if self.message is not None else {}

    @property
    def code(self) -> Any:
        return None if self.message is None else self.message.code

    @property
    def is_result(self) -> bool:
        return self.message is not None and self.message.shape is Shape.RESULT

    @property
    def status(self) -> int | None:
        return None if self.head is None else self.head.status


class Pending:
    """A request that was sent and may still be answered."""

    def __init__(self, method: str, request_id: Any, token: Any = None) -> None:
        self.method = method
        self.id = request_id
        self.token = token
        """The progress token, if the request has one."""
        self.progress = 0
        """How many notifications of progress have come."""
        self.logs = 0
        """How many log messages came while it was open."""
        self.sent: Sent | None = None
        self.over: asyncio.Future[Message | None] = asyncio.get_running_loop().create_future()
        """Done when the request is answered."""
