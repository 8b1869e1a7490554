"""Healthy servers on every transport of the lab."""

from __future__ import annotations

from assay.lab.harness.sabotage.subject import HEALTHY, HttpSseSaboteur
from assay.lab.harness.subject.subject import CommandSubject, Subject, UrlSubject, served
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS
from tests.driving.warm_python import warm_python


def healthy(server: str, transport: Transport) -> Subject:
    """A bundled server on any transport. For HTTP+SSE, which it lacks, a proxy is put in front."""
    return OverTwoEndpoints(server) if transport is Transport.HTTP_SSE else bundled(server, transport)


def bundled(server: str, transport: Transport, *options: str) -> Subject:
    """A bundled server. On stdio each scenario starts it anew: there it starts from a warm Python."""
    if transport is Transport.STDIO:
        return CommandSubject((warm_python(), "-m", "assay", "serve", server, *options))
    return served(server, transport, *options)


class OverTwoEndpoints(UrlSubject):
    """A bundled server behind an HTTP+SSE proxy without fault."""

    def __init__(self, server: str) -> None:
        super().__init__(server, transport=Transport.HTTP_SSE)
        self._behind = served(server, Transport.WEBSOCKET)
        self._front: HttpSseSaboteur | None = None

    async def start(self) -> None:
        await self._behind.start()
        self._front = HttpSseSaboteur(HEALTHY, self._behind.name, REVISIONS[0])
        await self._front.start()
        self.name = self._front.name

    async def stop(self) -> None:
        if self._front is not None:
            await self._front.stop()
        await self._behind.stop()
