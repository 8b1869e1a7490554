"""Runs the probes of a client on one transport."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from assay.lab.harness.links.broken_off import Gone, Unreachable
from assay.lab.harness.run.plan import Cell
from assay.lab.harness.run.recording import run_all
from assay.lab.harness.run.run import SubjectRecord
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.harness.subject.facts import UnsupportedRevision
from assay.lab.harness.subject.process import describe_exit
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Revision

from .ability import BASIC, Ability, needed
from .client import UNABLE, Client
from .client_discovery import Spoken, full_ability, looks_for_authority, spoken
from .client_script import ClientScript
from .probe import Probe, Probed, basic_probe, full_probe, refusing_probe, run_probe


class Scout:
    def __init__(self, client: Client, gate: asyncio.Semaphore, limit: float, patience: float) -> None:
        """A client that never ends within `limit` seconds gets `patience`."""
        self._client = client
        self._gate = gate
        self._limit = limit
        self._patience = patience
        self.slowest = 0.0
        """Seconds that the slowest of the first probes took, of those that ended by themselves."""

    async def revisions(self, revisions: Sequence[Revision]) -> tuple[SubjectRecord, dict[Revision, Ability]]:
        """The revisions that the client speaks.

        Raises:
            SubjectDown: it cannot be started, or exits with an error before it connects.
        """
        probes = await self._speak(revisions)
        if self._patience > self._limit and all(probe.exit.stopped for probe in probes.values()):
            # The machine may be busy.
            self._limit = self._patience
            probes = await self._speak(revisions)
        self._check_started(list(probes.values()))
        record = SubjectRecord(self._client.name, self._client.transport)
        known: dict[Revision, Ability] = {}
        for revision in revisions:
            if reason := probes[revision].reason:
                record.refused.append(UnsupportedRevision(revision.date, reason))
            else:
                record.facts.append(probes[revision].facts)
                known[revision] = probes[revision].ability
        return record, known

    async def _speak(self, revisions: Sequence[Revision]) -> dict[Revision, Spoken]:
        probes: dict[Revision, Spoken] = {}

        async def attempt(revision: Revision) -> None:
            probe = basic_probe()
            probed = await self._run(probe, revision)
            probes[revision] = spoken(probe, probed, revision)
            if not probed.exit.stopped:
                self.slowest = max(self.slowest, probed.seconds)

        await run_all(attempt(revision) for revision in revisions)
        return probes

    async def abilities(
        self, known: Mapping[Revision, Ability], cells: Sequence[Cell]
    ) -> dict[Revision, Ability]:
        """What the client can do, as far as the cells require it."""
        abilities = dict(known)
        demanding = {cell.revision for cell in cells if not _is_basic(cell)}
        protected = any(_script(cell).oauth for cell in cells)

        async def attempt(revision: Revision) -> None:
            probe = full_probe(revision)
            probed = await self._run(probe, revision)
            abilities[revision] = full_ability(probe, probed, known[revision])

        await run_all(attempt(revision) for revision in sorted(demanding, key=REVISIONS.index))
        if protected and self._client.transport is Transport.HTTP:
            newest = max(abilities, key=REVISIONS.index)
            oauth = looks_for_authority(await self._run(refusing_probe(), newest))
            abilities = {revision: replace(each, oauth=oauth) for revision, each in abilities.items()}
        return abilities

    async def _run(self, probe: Probe, revision: Revision) -> Probed:
        async with self._gate:
            try:
                return await run_probe(probe, self._client, revision, self._limit)
            except Unreachable as reason:
                raise SubjectDown(self._client.name, reason) from reason

    def _check_started(self, probes: Sequence[Spoken]) -> None:
        """A program that fails before it connects, whatever the revision, cannot run: for example because
        a module is missing."""
        if probes and all(not each.connected and _failed(each) for each in probes):
            last = probes[-1].exit
            reason = Gone(f"{describe_exit(last.status or 0)} before it connected", last.last_words)
            raise SubjectDown(self._client.name, reason)


def _failed(probes: Spoken) -> bool:
    status = probes.exit.status
    return status is not None and status > 0 and status != UNABLE


def _script(cell: Cell) -> ClientScript:
    return cell.scenario.script or ClientScript()


def _is_basic(cell: Cell) -> bool:
    """Whether the first probe shows if the cell applies."""
    return (
        cell.scenario.official is not None
        and needed(_script(cell)) <= BASIC
        and not _script(cell).capabilities
    )
