"""A whole run of a client: every scenario on every selected transport and revision."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager

from msgspec import Struct

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
    Watch,
)
from assay.lab.harness.run.plan import Cell, Selection, is_defined, selected
from assay.lab.harness.run.recording import now, run_all, unfinished
from assay.lab.harness.run.run import FORMAT, CellResult, Run, SubjectRecord
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.harness.scenario import Role, Scenario
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.shape import prepare
from assay.lab.harness.transport import Transport
from assay.model.version import VERSION
from assay.revisions.registry import HANDSHAKE, PER_REQUEST, REVISIONS
from assay.revisions.revision import Revision

from .client import Client
from .client_run import ClientRun, run_client

Keep = Callable[[ClientRun], CellResult]
"""Stores a run of a client; returns its result with the location of the trace."""
STARTING = (os.cpu_count() or 1) + 1
"""Clients that may start at the same time: starting is CPU-bound."""
DEFAULT_REVISIONS = (HANDSHAKE[-1], PER_REQUEST[-1])
"""The default revisions: the newest of each kind."""


class ClientOrder(Struct, frozen=True):
    """The options of a run."""

    suite: Suite
    selection: Selection = Selection()
    limit: float = 30.0
    """Seconds that the client has for each scenario."""
    jobs: int = 1
    repeat: int = 1
    strict: bool = False
    once: bool = False
    """Run each scenario at one revision only: the newest selected one that has it."""
    deadline: float = DEADLINE
    """Seconds for the whole run."""


def planned(order: ClientOrder, transports: Sequence[Transport]) -> list[Cell]:
    """The cells in the order of the report: by scenario, transport and revision."""
    cells = [
        Cell(scenario, transport, revision, Facts(revision.date), attempt=attempt)
        for scenario in selected(order.suite.scenarios.values(), order.selection)
        for transport in transports
        for revision in revisions_for(scenario, transport, order)
        for attempt in range(1, order.repeat + 1)
    ]
    cells.sort(key=lambda cell: cell.place not in order.selection.first)
    return cells


def revisions_for(scenario: Scenario, transport: Transport, order: ClientOrder) -> list[Revision]:
    """The selected revisions; by default the newest of each kind, or the newest that has the scenario."""
    possible = [revision for revision in REVISIONS if is_defined(order.suite, scenario, transport, revision)]
    selected = order.selection.revisions or DEFAULT_REVISIONS
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
        cells = planned(self._order, list(self._clients))
        self._watch(CellsPlanned(len(cells)))
        # Load what judging needs while the first clients start.
        ready = asyncio.create_task(asyncio.to_thread(prepare))
        playing = run_all(self._play(place, cell, ready) for place, cell in enumerate(cells))
        ending = await run_until(self._order.deadline, playing)
        run = Run(
            format=FORMAT,
            assay=VERSION,
            started=started,
            seconds=round(time.monotonic() - begin, 3),
            subjects=[SubjectRecord(client.name, transport) for transport, client in self._clients.items()],
            cells=list(self._judged(cells, reason_of(ending, self._order.deadline))),
            suite=self._order.suite.name,
            role=Role.CLIENT.value,
            strict=self._order.strict,
            interrupted=ending is Ending.INTERRUPTED,
            expired=ending is Ending.EXPIRED,
            problem="" if cells or ending is not Ending.COMPLETE else "no scenario was selected",
        )
        self._watch(RunFinished(run))
        return run

    @asynccontextmanager
    async def _start(self) -> AsyncIterator[Callable[[], None]]:
        """Limit the number of clients that start at once; the start is over with the first frame."""
        await self._starting.acquire()
        holding = ExitStack()
        holding.callback(self._starting.release)
        with holding:
            yield holding.close

    def _judged(self, cells: Sequence[Cell], reason: Reason) -> Iterator[CellResult]:
        for place, cell in enumerate(cells):
            yield self._results.get(place) or unfinished(cell, reason)

    async def _play(self, place: int, cell: Cell, ready: asyncio.Task[None]) -> None:
        async with self._gate:
            self._watch(CellStarted(cell.scenario.id, cell.transport, cell.revision.date))
            client = self._clients[cell.transport]
            try:
                async with self._start() as started:
                    run = await run_client(cell, client, self._order.suite, self._order.limit, ready, started)
            except Unreachable as reason:
                raise SubjectDown(client.name, reason) from reason
        self._results[place] = self._keep(run)
        while self._reported in self._results:
            self._watch(CellFinished(self._results[self._reported]))
            self._reported += 1
