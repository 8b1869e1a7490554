"""A whole run of a client: every scenario on every selected transport and revision."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Container, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.reason import Reason
from assay.lab.harness.run.ending import DEADLINE, Ending, reason_of, run_until
from assay.lab.harness.run.event import (
    CellFinished,
    CellsPlanned,
    CellStarted,
    RunFinished,
    RunStarted,
    SubjectKnown,
    Watch,
)
from assay.lab.harness.run.folding import counted_once
from assay.lab.harness.run.plan import Cell, Selection, is_defined, selected
from assay.lab.harness.run.recording import not_applicable, now, run_all, unfinished
from assay.lab.harness.run.run import FORMAT, CellResult, Run, SubjectRecord
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.harness.scenario import Role, Scenario
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.shape import prepare
from assay.lab.harness.transport import Transport
from assay.model.version import VERSION
from assay.revisions.registry import HANDSHAKE, PER_REQUEST, REVISIONS
from assay.revisions.revision import Revision

from .ability import ANYTHING, Ability, unmet
from .client import Client
from .client_run import ClientRun, run_client
from .inability import within_ability
from .scout import Scout

Keep = Callable[[ClientRun], CellResult]
"""Stores a run of a client; returns its result with the location of the trace."""
STARTING = (os.cpu_count() or 1) + 1
"""Clients that may start at the same time: starting is CPU-bound."""
SLACK, SLOWEST = 10, 180.0
"""A scenario may take so many times as long as the slowest of the first probes, but no longer than these
seconds, if that is more than the limit: the machine may be busy."""
DEFAULT_REVISIONS = (HANDSHAKE[-1], PER_REQUEST[-1])
"""The default revisions of a client that speaks them all: the newest of each kind."""


class ClientOrder(Struct, frozen=True):
    """The options of a run."""

    suite: Suite
    selection: Selection = Selection()
    limit: float = 30.0
    """Seconds that the client has for each scenario."""
    fixed_limit: bool = False
    """Whether `limit` also holds for a client that is slow in the probes."""
    jobs: int = 1
    repeat: int = 1
    strict: bool = False
    once: bool = False
    """Run each scenario at one revision only: the newest selected one that has it."""
    deadline: float = DEADLINE
    """Seconds for the whole run."""
    probes: bool = False
    """Find out first which revisions the client speaks and what it can do."""


Known = Mapping[Transport, Mapping[Revision, Ability]]
"""The revisions that a client speaks, with what it can do."""


def planned(order: ClientOrder, transports: Sequence[Transport], known: Known | None = None) -> list[Cell]:
    """The cells in the order of the report: by scenario, transport and revision. Without `known`, the client
    is expected to speak everything."""
    cells = []
    for scenario in selected(order.suite.scenarios.values(), order.selection):
        for transport in transports:
            abilities = dict.fromkeys(REVISIONS, ANYTHING) if known is None else known[transport]
            for revision in revisions_for(scenario, transport, order, abilities):
                cell = Cell(scenario, transport, revision, Facts(revision.date))
                cells += _attempts(cell, unmet(scenario, abilities[revision]), order.repeat)
    cells.sort(key=lambda cell: cell.place not in order.selection.first)
    return cells


def _attempts(cell: Cell, reason: Reason | None, repeat: int) -> list[Cell]:
    return [
        replace(cell, reason=reason, attempt=attempt) for attempt in range(1, (1 if reason else repeat) + 1)
    ]


def revisions_for(
    scenario: Scenario, transport: Transport, order: ClientOrder, known: Container[Revision] = REVISIONS
) -> list[Revision]:
    """The selected revisions of those that the client speaks; by default the newest of each kind, or the
    newest that has the scenario."""
    possible = [
        revision
        for revision in REVISIONS
        if revision in known and is_defined(order.suite, scenario, transport, revision)
    ]
    kinds = ([each for each in kind if each in known][-1:] for kind in (HANDSHAKE, PER_REQUEST))
    selected = order.selection.revisions or tuple(chain(*kinds))
    revisions = [revision for revision in possible if revision in selected]
    if not revisions and not order.selection.revisions:
        revisions = possible[-1:]
    return revisions[-1:] if order.once else revisions


class ClientRunner:
    def __init__(self, order: ClientOrder, clients: Sequence[Client], watch: Watch, keep: Keep) -> None:
        self._order = order
        self._clients = {client.transport: client for client in clients}
        self._watch = watch
        self._keep = keep
        self._gate = asyncio.Semaphore(max(1, order.jobs))
        self._starting = asyncio.Semaphore(STARTING)
        self._cells = planned(order, list(self._clients))
        self._records = [SubjectRecord(client.name, transport) for transport, client in self._clients.items()]
        self._known: dict[Transport, Mapping[Revision, Ability]] = {}
        self._limit = order.limit
        self._alone = asyncio.Lock()
        self._results: dict[int, CellResult] = {}
        self._reported = 0

    async def run(self) -> Run:
        """
        Raises:
            SubjectDown: the client cannot be started.
            CheckFailed: a check is broken.
        """
        started, begin = now(), time.monotonic()
        self._watch(RunStarted([client.name for client in self._clients.values()]))
        ending = await run_until(self._order.deadline, self._run_cells())
        results = list(self._judged(reason_of(ending, self._order.deadline)))
        run = Run(
            format=FORMAT,
            assay=VERSION,
            started=started,
            seconds=round(time.monotonic() - begin, 3),
            subjects=self._records,
            cells=counted_once(self._order.suite, results),
            suite=self._order.suite.name,
            role=Role.CLIENT.value,
            strict=self._order.strict,
            interrupted=ending is Ending.INTERRUPTED,
            expired=ending is Ending.EXPIRED,
            problem="" if self._cells or ending is not Ending.COMPLETE else self._problem(),
        )
        self._watch(RunFinished(run))
        return run

    async def _run_cells(self) -> None:
        # Load what judging needs while the first clients start.
        ready = asyncio.create_task(asyncio.to_thread(prepare))
        if self._order.probes:
            await self._discover()
        self._watch(CellsPlanned(len(self._cells)))
        await run_all(self._play(place, cell, ready) for place, cell in enumerate(self._cells))

    async def _discover(self) -> None:
        known = self._known
        revisions = sorted({cell.revision for cell in self._possible()}, key=REVISIONS.index)
        for number, (transport, client) in enumerate(self._clients.items()):
            patience = self._limit if self._order.fixed_limit else max(self._limit, SLOWEST)
            scout = Scout(client, self._gate, self._limit, patience)
            self._records[number], known[transport] = await scout.revisions(revisions)
            if not self._order.fixed_limit:
                self._limit = max(self._limit, min(SLOWEST, SLACK * scout.slowest))
            self._watch(SubjectKnown(self._records[number]))
            known[transport] = await scout.abilities(
                known[transport], planned(self._order, [transport], known)
            )
        self._cells = planned(self._order, list(self._clients), known)

    def _possible(self) -> list[Cell]:
        """The cells at every selected revision, or at all."""
        selection = replace(self._order.selection, revisions=self._order.selection.revisions or REVISIONS)
        order = replace(self._order, selection=selection, once=False)
        return planned(order, list(self._clients))

    def _problem(self) -> str:
        refused = [f"{each.revision}: {each.reason}" for record in self._records for each in record.refused]
        if refused and not any(record.facts for record in self._records):
            return "not applicable: the client speaks none of the selected revisions; " + "; ".join(refused)
        return "no selected scenario applies to the revisions that this client speaks"

    @asynccontextmanager
    async def _start(self) -> AsyncIterator[Callable[[], None]]:
        """Limit the number of clients that start at once; the start is over with the first frame."""
        await self._starting.acquire()
        holding = ExitStack()
        holding.callback(self._starting.release)
        with holding:
            yield holding.close

    def _judged(self, reason: Reason) -> Iterator[CellResult]:
        for place, cell in enumerate(self._cells):
            yield self._results.get(place) or unfinished(cell, reason)

    async def _play(self, place: int, cell: Cell, ready: asyncio.Task[None]) -> None:
        if cell.reason is None:
            async with self._gate:
                self._watch(CellStarted(cell.scenario.id, cell.transport, cell.revision.date))
                run = await self._run(cell, ready)
                if run.exit.stopped and self._order.probes:
                    # Other scenarios at the same time may be to blame: a hang must happen again to count.
                    async with self._alone:
                        run = await self._run(cell, ready)
                ability = self._known.get(cell.transport, {}).get(cell.revision, ANYTHING)
                self._results[place] = self._keep(within_ability(run, cell, ability))
        else:
            self._results[place] = not_applicable(cell)
        while self._reported in self._results:
            self._watch(CellFinished(self._results[self._reported]))
            self._reported += 1

    async def _run(self, cell: Cell, ready: asyncio.Task[None]) -> ClientRun:
        client = self._clients[cell.transport]
        try:
            async with self._start() as started:
                return await run_client(cell, client, self._order.suite, self._limit, ready, started)
        except Unreachable as reason:
            raise SubjectDown(client.name, reason) from reason
