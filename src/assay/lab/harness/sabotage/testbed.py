"""The testbed of trials: a healthy server on HTTP and WebSocket, and its facts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import msgspec

from assay.lab.harness.run.recording import Conditions, record
from assay.lab.harness.subject.discovery import DISCOVERY, discover
from assay.lab.harness.subject.facts import Facts, Permission, ToolCalls
from assay.lab.harness.subject.first_calls import FIRST_CALLS, make_first_calls
from assay.lab.harness.subject.registry_entry import KINDS, entry_of
from assay.lab.harness.subject.subject import Subject, served
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision

from .doubled import doubled
from .environment import Environment
from .saboteur import WITH_CERTIFICATES, WITH_TOKENS, Double, Saboteur
from .subject import HEALTHY, HttpSaboteur, HttpSseSaboteur, StdioSaboteur, WebSocketSaboteur

if TYPE_CHECKING:
    from .certificate_authority import TestCA
    from .protected_server import ProtectedServer

# The transport of the healthy server behind a fault on each transport.
UPSTREAM: Final[Mapping[Transport, Transport]] = {
    Transport.STDIO: Transport.WEBSOCKET,
    Transport.HTTP: Transport.HTTP,
    Transport.HTTP_SSE: Transport.WEBSOCKET,
    Transport.WEBSOCKET: Transport.WEBSOCKET,
}
_SUBJECTS: Final[Mapping[Transport, Callable[[Saboteur, str, Revision], Subject]]] = {
    Transport.STDIO: StdioSaboteur,
    Transport.HTTP: HttpSaboteur,
    Transport.HTTP_SSE: HttpSseSaboteur,
    Transport.WEBSOCKET: WebSocketSaboteur,
}


class Testbed:
    def __init__(self, target: str, double: Double | None = None) -> None:
        """`target` is the arguments of `assay serve`, after `locked` for a server that requires tokens, or
        after `certified` for one that requires certificates."""
        self._environment = Environment(target)
        self._protected: ProtectedServer | None = None
        self._test_ca: TestCA | None = None
        self._servers: dict[Transport, Subject] = {}
        self._double = double
        self.conditions = Conditions()
        self.known: dict[Transport, dict[Revision, Facts]] = {}

    def _subjects(self) -> dict[Transport, Subject]:
        words = self._environment.words
        if words[0] == WITH_TOKENS:
            self._protected = protected = _protected_server(*words[1:])
            self.conditions = protected.conditions
            return {transport: protected.served(transport) for transport in set(UPSTREAM.values())}
        if words[0] == WITH_CERTIFICATES:
            self._test_ca = _test_ca(*words[1:])
            return {Transport.HTTP: self._test_ca.served()}
        return {transport: served(words[0], transport, *words[1:]) for transport in set(UPSTREAM.values())}

    async def __aenter__(self) -> Testbed:
        await self._environment.__aenter__()
        self._servers = self._subjects()
        around = self._environment.surroundings
        self.conditions = msgspec.structs.replace(self.conditions, out_of_band=around)
        await asyncio.gather(*(server.start() for server in self._servers.values()))
        facts = {upstream: await self._facts(upstream) for upstream in self._servers}
        self.known = {
            transport: facts[upstream] for transport, upstream in UPSTREAM.items() if upstream in facts
        }
        await self._call_tools(facts)
        self._register(facts)
        return self

    async def _call_tools(self, facts: Mapping[Transport, Mapping[Revision, Facts]]) -> None:
        """Allow and try the tools of a server of which none says that it only reads."""
        calls: dict[str, ToolCalls] = {}
        for upstream, by_revision in facts.items():
            for revision, known in reversed(list(by_revision.items())):
                if known.tools and not known.read_only_tools:
                    known.permission, known.calls = Permission.EFFECTS, calls
                    if not calls:
                        async with self._healthy(upstream, revision) as subject:
                            await record(
                                FIRST_CALLS, subject, revision, make_first_calls, known, self.conditions
                            )

    def _register(self, facts: Mapping[Transport, Mapping[Revision, Facts]]) -> None:
        """Give the server a registry entry that matches it, so that only a fault contradicts the entry."""
        by_revision = facts[Transport.HTTP]
        newest = next(
            (by_revision[revision] for revision in reversed(REVISIONS) if revision in by_revision), Facts("")
        )
        lists = {kind: getattr(newest, kind) for kind in KINDS}
        entry = entry_of(lists, [revision.date for revision in by_revision])
        around = msgspec.structs.replace(self.conditions.out_of_band, registry=entry)
        self.conditions = msgspec.structs.replace(self.conditions, out_of_band=around)
        for group in facts.values():
            for known in group.values():
                known.out_of_band = around.kinds

    async def __aexit__(self, *exc: object) -> None:
        await asyncio.gather(*(server.stop() for server in self._servers.values()))
        for server in (self._protected, self._test_ca):
            if server is not None:
                server.close()
        await self._environment.__aexit__(*exc)

    def subject_for(self, saboteur: Saboteur, transport: Transport, revision: Revision) -> Subject:
        """The saboteur in front of the healthy server, and of the double if there is one."""
        faulty = saboteur if self._double is None else doubled(saboteur, self._double)
        healthy = self._servers[UPSTREAM[transport]].name
        if self._test_ca is not None:
            return HttpSaboteur(faulty, healthy, revision, self._test_ca)
        return _SUBJECTS[transport](faulty, healthy, revision)

    async def _facts(self, upstream: Transport) -> dict[Revision, Facts]:
        known = {}
        for revision in REVISIONS:
            async with self._healthy(upstream, revision) as subject:
                played = await record(
                    DISCOVERY, subject, revision, discover, Facts(revision.date), self.conditions
                )
            if isinstance(played.value, Facts):
                known[revision] = played.value
        return known

    @asynccontextmanager
    async def _healthy(self, upstream: Transport, revision: Revision) -> AsyncIterator[Subject]:
        """The server, together with its double if it has one."""
        if self._double is None:
            yield self._servers[upstream]
            return
        both = self.subject_for(HEALTHY, upstream, revision)
        await both.start()
        try:
            yield both
        finally:
            await both.stop()


def _protected_server(*words: str) -> ProtectedServer:
    # Imported here because only tokens need its dependencies.
    from .protected_server import ProtectedServer

    return ProtectedServer(*words)


def _test_ca(*words: str) -> TestCA:
    from .certificate_authority import TestCA

    return TestCA(*words)
