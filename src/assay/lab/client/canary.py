"""Places that nobody should visit: whatever comes there is in the trace, and is sent away."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from assay.lab.harness.hosting.hosting import Hosting
from assay.lab.harness.hosting.http_reply import HttpReply
from assay.lab.harness.hosting.http_server import Asked

CANARY: Final = "canary"
"""The room."""


async def open_canary(stage: Hosting) -> int:
    """Returns the port."""

    async def serve(asked: Asked, reply: HttpReply) -> None:
        await reply.whole(404)

    return urlsplit(await stage.room(CANARY, serve)).port or 0
