"""A URL whose transport is unknown: Streamable HTTP, or only the HTTP+SSE of the first revision.

Detection works as the specification describes it for clients: POST `initialize`; on a 4xx status, open a
stream with GET and expect an `endpoint` event first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from assay.lab.harness.driver.message_meta import CLIENT
from assay.lab.harness.links.broken_off import BrokenOff
from assay.lab.harness.links.http import HttpLink
from assay.lab.harness.links.http_sse import HttpSseLink
from assay.lab.harness.links.identity import DEFAULT_IDENTITY, Identity
from assay.lab.harness.trace.frame import Frame, Header
from assay.lab.harness.trace.recorder import Recorder
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS

from .subject import UrlSubject

FIRST: Final = REVISIONS[0]
PATIENCE: Final = 5.0
"""Seconds for each of the two attempts."""
DETECTION: Final = "detection"


class DetectedSubject(UrlSubject):
    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        command: Sequence[str] | None = None,
        identity: Identity = DEFAULT_IDENTITY,
    ) -> None:
        super().__init__(url, headers=headers, command=command, identity=identity)

    async def start(self) -> None:
        await super().start()
        if await self._refuses_posts() and await self._names_an_endpoint():
            self.transport = Transport.HTTP_SSE

    async def _refuses_posts(self) -> bool:
        link = HttpLink(self.name, Ignored(), _recorder(), FIRST, **self._options())
        params = {"protocolVersion": FIRST.date, "capabilities": {}, "clientInfo": CLIENT}
        opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        try:
            head = await (await link.send(msgspec.json.encode(opening), opening, {})).settled(PATIENCE)
            link.agreed(head, FIRST.date)
            if link.session is not None:
                await (await link.call("DELETE", headers=link.session_headers())).settled(PATIENCE)
        except BrokenOff:
            return False  # discovery will meet the same problem and report it
        finally:
            await link.close()
        return head is not None and head.status is not None and 400 <= head.status < 500

    async def _names_an_endpoint(self) -> bool:
        link = HttpSseLink(self.name, Ignored(), _recorder(), FIRST, **self._options())
        try:
            await link.open()
        except BrokenOff:
            return False
        finally:
            await link.close()
        return True

    def _options(self) -> dict[str, Any]:
        return {"name": "0", "patience": PATIENCE, "headers": self._headers, "identity": self._identity}


def _recorder() -> Recorder:
    """This traffic is not evidence: discovery repeats and records it."""
    return Recorder(Header(FIRST.date, Transport.HTTP, "", DETECTION))


class Ignored:
    """An inbox that discards everything."""

    def deliver(self, frame: Frame, body: bytes) -> None: ...

    def ended(self, channel: str) -> None: ...

    def fail(self, reason: BrokenOff) -> None: ...
