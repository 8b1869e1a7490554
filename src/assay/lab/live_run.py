"""A run in progress: what servers and clients have in common from the options to the stored run."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import msgspec

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.run.archive import Archive, StorageError
from assay.lab.harness.run.baseline import BadBaseline, Entry, compare, read_baseline, relevant
from assay.lab.harness.run.ending import DEADLINE
from assay.lab.harness.run.event import RunEvent, Watch
from assay.lab.harness.run.plan import Selection, selected
from assay.lab.harness.run.run import Run
from assay.lab.harness.run.runner import SubjectDown

from .error import CannotStore, InvalidOptions, LabError
from .golden_run import GoldenResult, GoldenStep
from .live import Live
from .options import Golden, RunOptions
from .suites import suite_named


class Conduct(Protocol):
    """How a server, or a client, is judged."""

    suite: Suite
    selection: Selection
    restarts: bool
    """Whether the lab starts the subject, and so starts it anew for every run."""

    async def run(self, watch: Watch, archive: Archive | None) -> Run:
        """
        Raises:
            SubjectDown: nothing can be judged.
            LabError: the same, for a reason that has a fix.
        """

    def not_there(self, down: SubjectDown) -> LabError: ...


class LiveRun(Live[RunEvent, Run]):
    def __init__(self, conduct: Conduct, options: RunOptions) -> None:
        """
        Raises:
            InvalidOptions: a file that the options name cannot be used.
        """
        super().__init__(self._judge)
        self._conduct = conduct
        self._entries = _baseline(options.baseline, conduct)
        self._step = None if options.golden == Golden() else GoldenStep(options, conduct.suite)
        self._archive = None if options.output is None else open_archive(options.output, conduct.suite)
        self._golden: GoldenResult | LabError | None = None
        self.path: Path | None = None
        """Where the run is stored, once it is."""

    @property
    def suite(self) -> Suite:
        return self._conduct.suite

    @property
    def restarts(self) -> bool:
        return self._conduct.restarts

    @property
    def golden(self) -> GoldenResult | None:
        """What the golden run came to, if the options have one.

        Raises:
            LabError: it could not be recorded, or compared.
        """
        if isinstance(self._golden, LabError):
            raise self._golden
        return self._golden

    def discard(self) -> None:
        """Remove all that was stored of this run."""
        if self._archive is not None:
            self._archive.discard()

    async def _judge(self, watch: Watch) -> Run:
        try:
            run = await self._conduct.run(watch, self._archive)
            compared = compare(run, self._entries)
            stale = [] if run.expired else compared.stale  # it may not have been reached
            run = msgspec.structs.replace(run, expected=compared.expected, stale=stale)
            if self._archive is not None:
                self.path = self._archive.finish(run)
        except SubjectDown as down:
            raise self._conduct.not_there(down) from down
        except StorageError as error:
            raise CannotStore(str(error), "name another directory with --output") from error
        if self._step is not None and self.path is not None:
            try:
                self._golden = self._step.finish(run, self.path.parent)
            except LabError as error:
                self._golden = error
        return run


def deadline_of(options: RunOptions, limit: float) -> float:
    """Seconds for a whole run whose scenarios may take `limit` seconds each."""
    return options.deadline or max(DEADLINE * options.repeat, 2 * limit)


def _baseline(path: Path | None, conduct: Conduct) -> list[Entry]:
    """What the file expects of the scenarios that are selected."""
    if path is None:
        return []
    role = conduct.suite.role.value
    try:
        entries = read_baseline(path, role)
    except BadBaseline as error:
        raise InvalidOptions(str(error), f"`{role}:` holds a list of scenarios, or scenario:check") from error
    every = suite_named(conduct.suite.name).scenarios.values()
    return relevant(entries, selected(conduct.suite.scenarios.values(), conduct.selection), every)


def open_archive(output: Path, suite: Suite) -> Archive:
    """
    Raises:
        InvalidOptions: the directory cannot be created.
    """
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot store results in {output}: {error.strerror}"
        raise InvalidOptions(problem, "name another directory with --output") from error
    return Archive(output, suite.role, suite.requirements)
