"""Where saboteurs are tried: one healthy server, running on HTTP and WebSocket, and what is known of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import msgspec

from assay.lab.harness.run.recording import Conditions, play
from assay.lab.harness.subject.discovery import DISCOVERY, discover
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.registry_entry import KINDS, entry_of
from assay.lab.harness.subject.subject import Subject, served
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision

from .doubled import doubled
from .environment import Environment
from .saboteur import CERTIFIED, LOCKED, Double, Saboteur
from .subject import HEALTHY, HttpSaboteur, HttpSseSaboteur, StdioSaboteur, WebSocketSaboteur

if TYPE_CHECKING:
    from .certificate_server import TestCA
    from .protected_server import ProtectedServer

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


class Testbed:
    def __init__(self, target: str, double: Double | None = None) -> None:
        """`target` is what `assay serve` takes, options included; after `locked`, it takes a token, and
        after `certified` a certificate."""
        self._furnished = Environment(target)
        self._lock: ProtectedServer | None = None
        self._office: TestCA | None = None
        self._servers: dict[Transport, Subject] = {}
        self._double = double
        self.conditions = Conditions()
        self.known: dict[Transport, dict[Revision, Facts]] = {}

    def _made(self) -> dict[Transport, Subject]:
        words = self._furnished.words
        if words[0] == LOCKED:
            self._lock = lock = _lock(*words[1:])
            self.conditions = lock.conditions
            return {behind: lock.served(behind) for behind in set(BEHIND.values())}
        if words[0] == CERTIFIED:
            self._office = _office(*words[1:])
            return {Transport.HTTP: self._office.served()}
        return {behind: served(words[0], behind, *words[1:]) for behind in set(BEHIND.values())}

    async def __aenter__(self) -> Testbed:
        await self._furnished.__aenter__()
        self._servers = self._made()
        around = self._furnished.surroundings
        self.conditions = msgspec.structs.replace(self.conditions, surroundings=around)
        await asyncio.gather(*(server.start() for server in self._servers.values()))
        facts = {behind: await self._facts(behind) for behind in self._servers}
        self.known = {transport: facts[behind] for transport, behind in BEHIND.items() if behind in facts}
        self._register(facts)
        return self

    def _register(self, facts: Mapping[Transport, Mapping[Revision, Facts]]) -> None:
        """Give the server a true entry in a registry: a fault then is what the entry does not know of."""
        spoken = facts[Transport.HTTP]
        newest = next((spoken[one] for one in reversed(REVISIONS) if one in spoken), Facts(""))
        lists = {kind: getattr(newest, kind) for kind in KINDS}
        entry = entry_of(lists, [revision.date for revision in spoken])
        around = msgspec.structs.replace(self.conditions.surroundings, registry=entry)
        self.conditions = msgspec.structs.replace(self.conditions, surroundings=around)
        for known in (one for every in facts.values() for one in every.values()):
            known.beside = around.kinds

    async def __aexit__(self, *exc: object) -> None:
        await asyncio.gather(*(server.stop() for server in self._servers.values()))
        for keys in (self._lock, self._office):
            if keys is not None:
                keys.close()
        await self._furnished.__aexit__(*exc)

    def put_before(self, saboteur: Saboteur, transport: Transport, revision: Revision) -> Subject:
        """The saboteur in front of the healthy server, and of the double if there is one."""
        faulty = saboteur if self._double is None else doubled(saboteur, self._double)
        healthy = self._servers[BEHIND[transport]].name
        if self._office is not None:
            return HttpSaboteur(faulty, healthy, revision, self._office)
        return _SABOTAGED[transport](faulty, healthy, revision)

    async def _facts(self, behind: Transport) -> dict[Revision, Facts]:
        known = {}
        for revision in REVISIONS:
            async with self._healthy(behind, revision) as subject:
                played = await play(
                    DISCOVERY, subject, revision, discover, Facts(revision.date), self.conditions
                )
            if isinstance(played.value, Facts):
                known[revision] = played.value
        return known

    @asynccontextmanager
    async def _healthy(self, behind: Transport, revision: Revision) -> AsyncIterator[Subject]:
        """The server itself; where it has a double, what the two of them are together."""
        if self._double is None:
            yield self._servers[behind]
            return
        both = self.put_before(HEALTHY, behind, revision)
        await both.start()
        try:
            yield both
        finally:
            await both.stop()


def _lock(*behind: str) -> ProtectedServer:
    # Only who needs a protected server needs what makes tokens.
    from .protected_server import ProtectedServer

    return ProtectedServer(*behind)


def _office(*behind: str) -> TestCA:
    from .certificate_server import TestCA

    return TestCA(*behind)
