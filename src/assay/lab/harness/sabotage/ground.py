"""Where saboteurs are tried: one healthy server, running on HTTP and WebSocket, and what is known of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from assay.lab.harness.discovery import DISCOVERY, discover
from assay.lab.harness.facts import Facts
from assay.lab.harness.playing import Conditions, play
from assay.lab.harness.saboteur import Saboteur
from assay.lab.harness.subject import Subject, served
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision

from .subject import HttpSaboteur, HttpSseSaboteur, StdioSaboteur, WebSocketSaboteur

# How a fault on one transport reaches the healthy server.
BEHIND: Final[Mapping[Transport, Transport]] = {
    Transport.STDIO: Transport.WEBSOCKET,
    Transport.HTTP: Transport.HTTP,
    Transport.HTTP_SSE: Transport.WEBSOCKET,
    Transport.WEBSOCKET: Transport.WEBSOCKET,
}
_SABOTAGED: Final[Mapping[Transport, Callable[[Saboteur, str, Revision], Subject]]] = {
    Transport.STDIO: StdioSaboteur,
    Transport.HTTP: HttpSaboteur,
    Transport.HTTP_SSE: HttpSseSaboteur,
    Transport.WEBSOCKET: WebSocketSaboteur,
}


class Ground:
    def __init__(self, target: str) -> None:
        self._servers = {behind: served(target, behind) for behind in set(BEHIND.values())}
        self.known: dict[Transport, dict[Revision, Facts]] = {}

    async def __aenter__(self) -> Ground:
        await asyncio.gather(*(server.start() for server in self._servers.values()))
        facts = {behind: await _facts(server) for behind, server in self._servers.items()}
        self.known = {transport: facts[behind] for transport, behind in BEHIND.items()}
        return self

    async def __aexit__(self, *exc: object) -> None:
        await asyncio.gather(*(server.stop() for server in self._servers.values()))

    def put_before(self, saboteur: Saboteur, transport: Transport, revision: Revision) -> Subject:
        """The saboteur in front of the healthy server."""
        return _SABOTAGED[transport](saboteur, self._servers[BEHIND[transport]].name, revision)


async def _facts(server: Subject) -> dict[Revision, Facts]:
    known = {}
    for revision in REVISIONS:
        played = await play(DISCOVERY, server, revision, discover, Facts(revision.date), Conditions())
        if isinstance(played.value, Facts):
            known[revision] = played.value
    return known
