"""Judge a server: `judge` waits for the run, `follow` shows it as it goes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from assay.lab.harness.run.archive import Archive
from assay.lab.harness.run.event import Watch
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.run.run import CellResult, Run, SubjectRecord, redacted
from assay.lab.harness.run.runner import Runner, RunSettings, StoreTrace, SubjectDown
from assay.lab.harness.trace.recorder import Redaction
from assay.lab.harness.trace.trace import Trace

from .access import Credentials
from .argument_file import arguments_from
from .error import LabError
from .extra import require_lab
from .live_run import LiveRun, deadline_of
from .options import Golden, JudgeOptions
from .repetition import repetition_of
from .selection import server_selection, server_suite
from .subjects import as_target, is_started, not_there, subjects_of, url_of
from .surroundings import check_evidence, surroundings
from .target import Target, Url

DEFAULTS: Final = JudgeOptions()


async def judge(target: Target | str, options: JudgeOptions = DEFAULTS) -> Run:
    """Judge a server and return the run.

    Raises:
        LabError: nothing was judged; the subclass says why.
        MissingExtra: a library of the lab is not installed.
    """
    return await follow(target, options).wait()


def follow(target: Target | str, options: JudgeOptions = DEFAULTS) -> LiveRun:
    """Judge a server, and follow the events of the run.

    Raises:
        InvalidOptions: the options cannot be used. Nothing has been started then.
        MissingExtra: a library of the lab is not installed.
    """
    require_lab()
    return LiveRun(ServerConduct(as_target(target), options), options)


class ServerConduct:
    def __init__(self, target: Target, options: JudgeOptions) -> None:
        """
        Raises:
            InvalidOptions: the options cannot be used.
        """
        self._target = target
        self._options = options
        self._credentials = Credentials(options.access, url_of(target))
        self._subjects = subjects_of(target, options.transport, self._credentials)
        self.suite = server_suite(options.suite, (*options.scenario, *options.skip))
        self.selection = server_selection(options)
        self._arguments = arguments_from(options.arguments)
        self.restarts = is_started(target)
        check_evidence(options.evidence)

    @property
    def redaction(self) -> Redaction:
        return self._credentials.redaction

    async def run(self, watch: Watch, archive: Archive | None) -> Run:
        keep = dropped if archive is None else archive.store
        async with self._runner(watch, keep) as runner:
            run = await runner.run()
        return redacted(run, self.redaction)

    async def discover(self) -> list[SubjectRecord]:
        """Discover the server and find arguments for its tools, without a scenario.

        Raises:
            SubjectDown: it cannot be reached, or does not start.
            LabError: the same, for a reason that has a fix.
        """
        async with self._runner(lambda event: None, dropped) as runner:
            return await runner.discover()

    @asynccontextmanager
    async def _runner(self, watch: Watch, keep: StoreTrace) -> AsyncIterator[Runner]:
        if not (isinstance(self._target, Url) and self._target.command):
            # A server that is started first may be asked for its scopes later.
            await self._credentials.fetch_tokens()
        async with surroundings(self._options.evidence) as observed:
            conditions = Conditions(
                patience=self._options.timeout,
                limit=scenario_limit(self._options.timeout),
                redaction=self.redaction,
                tokens=self._credentials.tokens,
                out_of_band=observed,
                repetition=repetition_of(self._target, self._options, self.suite.name),
            )
            yield Runner(self._order(conditions), self._subjects, watch, keep)

    def _order(self, conditions: Conditions) -> RunSettings:
        options = self._options
        # Golden traces must not depend on what else runs: one scenario after another, each in a process of
        # its own on stdio.
        alone = options.golden != Golden()
        return RunSettings(
            self.suite,
            self.selection,
            conditions,
            1 if alone else options.jobs or os.cpu_count() or 1,
            options.repeat,
            strict=options.strict,
            shared=not (options.isolate or alone),
            deadline=deadline_of(options, conditions.limit),
            arguments=self._arguments,
        )

    def not_there(self, down: SubjectDown) -> LabError:
        return not_there(down, self._target)


def scenario_limit(timeout: float) -> float:
    """Seconds for a whole scenario, given those for one answer."""
    return max(60.0, 3 * timeout)


def dropped(result: CellResult, trace: Trace) -> CellResult:
    """Store nothing."""
    return result
