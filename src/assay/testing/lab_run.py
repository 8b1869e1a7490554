"""A run of the lab in a thread, whose results test items wait for one after another."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection, Sequence
from itertools import product

import msgspec

from assay.lab import CannotJudge, Interrupted, JudgeOptions, Run, follow
from assay.lab.harness.run.event import CellFinished
from assay.lab.harness.run.plan import is_defined, is_named, selected
from assay.lab.harness.run.run import FORMAT, CellResult
from assay.lab.harness.subject.discovery import DISCOVERY
from assay.lab.harness.transport import Transport
from assay.lab.live_run import LiveRun
from assay.lab.selection import revisions_of, selection_of
from assay.lab.target import Target, Url
from assay.model.version import VERSION
from assay.revisions.registry import REVISIONS


class LabRun:
    """Starts when the first result is asked for, and judges the scenarios that were announced until then.

    Args:
        target: The server.
        options: As for `assay.lab.judge`.

    Raises:
        LabError, MissingExtra: nothing can be judged with these options. Nothing has been started then.
    """

    def __init__(self, target: Target, options: JudgeOptions) -> None:
        self.target = target
        self.options = options
        self.suite = follow(target, options).suite
        self.first = ""
        """The scenario whose result was asked for first: it reports what is wrong with the whole run."""
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._live: LiveRun | None = None
        self._position: dict[str, int] = {}
        self._cells: list[CellResult] = []
        self._reached = -1
        self._ended = False
        self._run: Run | None = None
        self._failure: BaseException | None = None
        self._changed = threading.Condition()

    def scenarios(self) -> list[str]:
        """Those that exist on one of the transports and revisions that the options select, and the discovery
        before all of them, whose findings are known at the end."""
        options = self.options
        usual = list(Transport) if isinstance(self.target, Url) else [Transport.STDIO]
        transports = [Transport(name) for name in options.transport] or usual
        places = list(product(transports, revisions_of(options.spec_version) or REVISIONS))
        scenarios = selected(self.suite.scenarios.values(), selection_of(options))
        return [
            *(
                scenario.id
                for scenario in scenarios
                if any(is_defined(self.suite, scenario, *place) for place in places)
            ),
            DISCOVERY,
        ]

    def start(self, scenarios: Collection[str]) -> None:
        """Judge these scenarios. Idempotent."""
        if self._thread is not None:
            return
        chosen = [scenario for scenario in self.suite.scenarios.values() if scenario.id in scenarios]
        chosen.sort(key=lambda scenario: scenario.load)  # the order of the lab's plan
        self._position = {scenario.id: number for number, scenario in enumerate(chosen)}
        options = msgspec.structs.replace(self.options, scenario=tuple(self._position))
        self._thread = threading.Thread(target=self._follow, args=(options,), name="assay-lab", daemon=True)
        self._thread.start()

    def result(self, scenario: str) -> Run:
        """The part of the run that is about one scenario. Waits for it.

        Raises:
            LabError: nothing was judged.
        """
        self.first = self.first or scenario
        with self._changed:
            self._changed.wait_for(lambda: self._is_known(scenario))
            if self._failure is not None:
                raise self._failure
            run, cells = self._run, [cell for cell in self._cells if cell.scenario == scenario]
        expected, stale = ([], []) if run is None else (run.expected, run.stale)
        return Run(
            format=FORMAT,
            assay=VERSION,
            started=cells[0].started if cells else "",
            seconds=sum(cell.seconds for cell in cells),
            subjects=[],
            cells=cells,
            suite=self.suite.name,
            strict=self.options.strict,
            expired=run is not None and run.expired,
            expected=self._about(scenario, expected),
            stale=self._about(scenario, stale),
        )

    def stop(self) -> None:
        """End a run that is in progress, and the processes it started."""
        loop, thread = self._loop, self._thread
        if loop is not None and thread is not None and thread.is_alive():
            loop.call_soon_threadsafe(self._interrupt)
        if thread is not None:
            thread.join()

    def _is_known(self, scenario: str) -> bool:
        if self._ended:
            return True
        # What a baseline expects, and what of it is stale, is known at the end only.
        return self.options.baseline is None and self._reached > self._position.get(scenario, self._reached)

    def _about(self, scenario: str, entries: Sequence[str]) -> list[str]:
        """The entries of a baseline that are about this scenario."""
        known = self.suite.scenarios.get(scenario)
        return [entry for entry in entries if known and is_named(known, entry.partition(":")[0])]

    def _follow(self, options: JudgeOptions) -> None:
        failure: BaseException | None = None
        try:
            asyncio.run(self._consume(options))
        except BaseException as error:
            failure = error  # raised where the result is asked for
        with self._changed:
            self._failure, self._ended = failure, True
            self._changed.notify_all()

    async def _consume(self, options: JudgeOptions) -> None:
        self._loop = asyncio.get_running_loop()
        self._live = follow(self.target, options)
        async with self._live as live:
            async for event in live:
                if isinstance(event, CellFinished):
                    self._take(event.result)
        run = live.result
        if run.interrupted:
            raise Interrupted("the run was interrupted")
        if run.problem:
            raise CannotJudge(run.problem)
        with self._changed:
            self._run, self._cells = run, run.cells

    def _take(self, cell: CellResult) -> None:
        with self._changed:
            self._cells.append(cell)
            self._reached = max(self._reached, self._position.get(cell.scenario, -1))
            self._changed.notify_all()

    def _interrupt(self) -> None:
        if self._live is not None:
            self._live.interrupt()
