"""The healthy server of the profile, with all that can be seen around it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from fnmatch import fnmatch

import msgspec

from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.recording import Conditions, record
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.run.runner import Runner, RunSettings
from assay.lab.harness.sabotage.certificate_authority import TestCA
from assay.lab.harness.sabotage.environment import Environment
from assay.lab.harness.sabotage.protected_server import ProtectedServer
from assay.lab.harness.subject.discovery import DISCOVERY, discover
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.registry_entry import KINDS, entry_of
from assay.lab.harness.subject.subject import Subject
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.marketplace.observability import SERVER as EXPORTING
from assay.lab.suites import suite_named
from assay.revisions.registry import HANDSHAKE, PER_REQUEST, REVISIONS
from tests.lab.healthy_server import bundled

SUITE = suite_named("marketplace")
PROFILE = ("reference", "--profile", "intelgraph/2025-10")
# On HTTP they mostly wait; on stdio each is a process.
JOBS = {Transport.HTTP: 12, Transport.STDIO: 4}
LOAD = "tpt.stdio-load"
# A scenario on stdio costs a process, and HTTP is spoken at every revision: there one stands for all, and a
# revision without a handshake is left for what only stdio has.
TRIED = {Transport.STDIO: HANDSHAKE[-1:]}
ONLY_STDIO = "tpt.stdio-*"
# There are no streams on stdio, and nothing to say in their silence.
SERVERS = {Transport.HTTP: SUITE.server, Transport.STDIO: SUITE.server.partition(" --heartbeat")[0]}
# A server with spans to export takes twice as long to start: only who looks at spans has one.
TRACED = "obs.*"
# By default it takes two seconds, of which each run would wait for several.
ARGUMENTS = {"long_task": [{"seconds": 0.2}]}
CHANGING = [name for name, one in SUITE.scenarios.items() if one.effects]


def keep(result: CellResult, trace: Trace) -> CellResult:
    return result


async def run_of(subject: Subject, conditions: Conditions, *scenarios: str) -> Run:
    revisions = TRIED.get(subject.transport, ())
    return await _run(subject, conditions, Selection(scenarios, revisions, effects=True))


async def _run(subject: Subject, conditions: Conditions, selection: Selection) -> Run:
    order = RunSettings(SUITE, selection, conditions, jobs=JOBS[subject.transport], arguments=ARGUMENTS)
    return await Runner(order, [subject], lambda event: None, keep).run()


async def healthy(transport: Transport) -> Run:
    """What the server does that most saboteurs stand before."""
    names = [one for one in SUITE.scenarios if one not in (LOAD, *CHANGING) and not fnmatch(one, TRACED)]
    return await furnished(SERVERS[transport], transport, *names)


async def changing(transport: Transport) -> Run:
    """Apart: on HTTP, what changes the server would be seen by all the others."""
    return await furnished(SERVERS[transport], transport, *CHANGING)


async def traced(transport: Transport) -> Run:
    return await furnished(EXPORTING, transport, TRACED)


async def furnished(server: str, transport: Transport, *scenarios: str) -> Run:
    """These scenarios on a server with what it asks for, and a true entry of it in a registry."""
    async with Environment(server) as around:
        name, *options = around.words
        subject = bundled(name, transport, *options)
        entry = await _entry(subject, Conditions(out_of_band=around.surroundings))
        known = msgspec.structs.replace(around.surroundings, registry=entry)
        return await run_of(subject, Conditions(out_of_band=known), *scenarios)


async def loaded() -> Run:
    """What only stdio has, ten thousand requests at once among it."""
    chosen = Selection((ONLY_STDIO,), PER_REQUEST[-1:])
    return await _run(bundled(PROFILE[0], Transport.STDIO, *PROFILE[1:]), Conditions(), chosen)


async def protected(transport: Transport, *scenarios: str) -> Run:
    """These scenarios on the same server behind a lock."""
    lock = ProtectedServer(*PROFILE)
    try:
        return await run_of(lock.served(transport), lock.conditions, *scenarios)
    finally:
        lock.close()


async def certified() -> Run:
    """The same server, where it asks for certificates."""
    office = TestCA(*PROFILE)
    try:
        return await run_of(office.served(), Conditions(), "sec.certificate")
    finally:
        office.close()


@asynccontextmanager
async def _started(subject: Subject) -> AsyncIterator[Subject]:
    await subject.start()
    try:
        yield subject
    finally:
        await subject.stop()


async def _entry(subject: Subject, conditions: Conditions) -> dict[str, object]:
    """A true entry of it in a registry."""
    newest = REVISIONS[-1]
    async with _started(subject):
        played = await record(DISCOVERY, subject, newest, discover, Facts(newest.date), conditions)
    assert isinstance(played.value, Facts)
    lists = {kind: getattr(played.value, kind) for kind in KINDS}
    return entry_of(lists, [one.date for one in REVISIONS])
