"""The proof that the line of a finding repeats it: runs the line of every saboteur that is caught.

A line of messages is run in a shell, and what it printed is judged again by the check: it must find the same
fault, and must not find it when the same line is run on the healthy server. A line that runs the scenario
again must report the requirement.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.check import Check, first_breaches
from assay.lab.harness.repeat.line import message_line, shows
from assay.lab.harness.repeat.message_line import MessageLine
from assay.lab.harness.repeat.output import printed_trace
from assay.lab.harness.repeat.scenario_line import Repetition, scenario_line
from assay.lab.harness.repeat.variable import VARIABLES
from assay.lab.harness.run.plan import Cell
from assay.lab.harness.run.recording import Conditions, run_cell
from assay.lab.harness.scenario import Scenario
from assay.lab.harness.subject.facts import Permission
from assay.lab.harness.subject.subject import Subject
from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.separation import judged
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Observation
from assay.revisions.registry import HANDSHAKE, REVISIONS

from .command_saboteur import CommandSaboteur
from .line_runner import run_line
from .saboteur import WITH_CERTIFICATES, Saboteur
from .subject import HEALTHY, StdioSaboteur
from .testbed import Testbed
from .trial import SHORT, Trial, breaches, checks_citing, server_trials

AT_ONCE: Final = 16
PATIENCE: Final = 2.0
"""Seconds for one answer in a line that runs a scenario: tools of the test servers that never answer are
called first."""
TRANSPORTS: Final = (Transport.STDIO, Transport.HTTP)


class Repeated(Struct, frozen=True):
    """The line of one caught saboteur, and whether it showed the fault."""

    trial: Trial[Saboteur]
    line: str
    seen: bool
    problem: str = ""

    @property
    def kind(self) -> str:
        return self.line.split(None, 1)[0].lstrip("(").partition("=")[0] if self.line else "none"


def is_repeatable(saboteur: Saboteur) -> bool:
    """Whether a line can meet the fault: one in spans or in the TLS of the test server is not in what a
    client of the server sends and receives, and a signal does not reach the saboteur behind the command or
    address of a line."""
    beside = saboteur.span is not None or saboteur.handshake is not None
    signals = saboteur.termination is not None or saboteur.ignores_termination
    return not beside and not signals and not (saboteur.server or "").startswith(WITH_CERTIFICATES)


async def repeat_lines(saboteurs: Sequence[Saboteur], suite: Suite, testbed: Testbed) -> list[Repeated]:
    """Run the lines of these saboteurs, on stdio and HTTP at the newest revision of each."""
    limit = asyncio.Semaphore(AT_ONCE)

    async def run(trials: Sequence[Trial[Saboteur]]) -> Repeated:
        """The first that shows the fault, else the last."""
        async with limit:
            for trial in trials:
                result = await _Repetition(trial, suite, testbed).run()
                if result.seen:
                    break
            return result

    chosen = [trials for each in saboteurs if is_repeatable(each) for trials in _trials(each, suite, testbed)]
    alone = [trials for trials in chosen if any(scenario.load for scenario in trials[0].scenarios)]
    results = await asyncio.gather(*(run(trials) for trials in chosen if trials not in alone))
    # Times are only measured while nothing else runs.
    return [*results, *[await run(trials) for trials in alone]]


def _trials(saboteur: Saboteur, suite: Suite, testbed: Testbed) -> Iterator[list[Trial[Saboteur]]]:
    """On each transport at the newest revision, else at the newest with a handshake: some faults, such as
    unrequested notifications, show in a real run only there."""
    trials = list(server_trials(saboteur, suite, testbed))
    for transport in TRANSPORTS:
        here = [trial for trial in trials if trial.transport is transport and not _needs_issuer(trial)]
        here.sort(key=lambda trial: -REVISIONS.index(trial.revision))
        with_handshake = [trial for trial in here if trial.revision in HANDSHAKE]
        if here:
            yield list({str(trial): trial for trial in (here[0], *with_handshake[:1])}.values())


def _needs_issuer(trial: Trial[Saboteur]) -> bool:
    """Whether only an authorization server has the tokens, which a line cannot have as variables."""
    return all(
        any(need.options == ("--authority",) for need in scenario.needs) for scenario in trial.scenarios
    )


def failed(results: Iterable[Repeated]) -> Iterator[str]:
    for result in results:
        if not result.seen:
            yield f"{result.trial}: {result.problem}: {result.line}"


class _Repetition:
    def __init__(self, trial: Trial[Saboteur], suite: Suite, testbed: Testbed) -> None:
        self._trial = trial
        self._suite = suite
        self._testbed = testbed
        tokens = testbed.conditions.tokens
        self._variables = {name: token for kind, name in VARIABLES.items() if (token := tokens.get(kind))}

    async def run(self) -> Repeated:
        """As in trials, a silent saboteur gets a short timeout first."""
        result = Repeated(self._trial, "", False, "the saboteur was not caught")
        for patience in (SHORT, PATIENCE) if self._trial.saboteur.silent else (PATIENCE,):
            for scenario in self._trial.scenarios:
                result = await self._repeated(scenario, patience) or result
                if result.seen:
                    return result
        return result

    async def _repeated(self, scenario: Scenario, patience: float) -> Repeated | None:
        trial = self._trial
        facts = self._testbed.known[trial.transport][trial.revision]
        cell = Cell(scenario, trial.transport, trial.revision, facts)
        async with self._subject(trial.saboteur) as subject:
            result, trace = await run_cell(cell, subject, self._suite, self._conditions(scenario, patience))
            caught_by = checks_citing(trial.saboteur.breaks, breaches(result))
            if not caught_by or trace is None:
                return None
            check, fault = self._fault(caught_by, judged(trace))
            line = message_line(judged(trace), fault, check.judge, history=check.history)
            if line is None:
                repeated = await self._run_scenario(scenario_line(trace.header), caught_by)
            else:
                repeated = await self._run_messages(line, subject, check, fault)
        if repeated.seen:
            return repeated
        # Some faults break the server for good: the line meets a new process, as after a restart.
        async with self._subject(trial.saboteur) as fresh:
            if line is None:
                text = _readdressed(scenario_line(trace.header), subject, fresh)
                return await self._run_scenario(text, caught_by)
            return await self._run_messages(_of(line, subject, fresh), fresh, check, fault)

    def _fault(self, caught_by: Sequence[str], trace: Trace) -> tuple[Check, Observation]:
        """The check that caught it, and what its finding describes."""
        citing = [check for check in self._suite.checks.values() if {*check.results} & {*caught_by}]
        faults = {check.id: first_breaches(check, trace, self._trial.saboteur.breaks) for check in citing}
        return next((check, faults[check.id][0]) for check in citing if faults[check.id])

    async def _run_messages(
        self, line: MessageLine, subject: Subject, check: Check, fault: Observation
    ) -> Repeated:
        output = await run_line(line.text, self._variables)
        if not shows(printed_trace(line, output), fault, check.judge):
            return Repeated(self._trial, line.text, False, f"the fault is not in its output ({check.id})")
        async with self._subject(HEALTHY) as healthy:
            other = _of(line, subject, healthy)
            output = await run_line(other.text, self._variables)
        if shows(printed_trace(other, output), fault, check.judge):
            problem = f"it shows the fault on the healthy server, too ({check.id})"
            return Repeated(self._trial, line.text, False, problem)
        return Repeated(self._trial, line.text, True)

    async def _run_scenario(self, line: str, caught_by: Sequence[str]) -> Repeated:
        text = (await run_line(line, self._variables)).decode("utf-8", "replace")
        breaks = self._trial.saboteur.breaks
        is_reported = any(f" {check}: " in text for check in caught_by) and f"{breaks} (" in text
        return Repeated(self._trial, line, is_reported, "" if is_reported else "it reports another result")

    def _conditions(self, scenario: Scenario, patience: float) -> Conditions:
        facts = self._testbed.known[self._trial.transport][self._trial.revision]
        options = ["--timeout", f"{patience:g}"]
        options += [] if self._suite.name == "protocol" else ["--suite", self._suite.name]
        has_effects = scenario.effects or facts.permission is not Permission.READ_ONLY
        options += ["--allow-effects"] if has_effects else []
        options += ["--allow-load"] if scenario.load else []
        options += [_token_option(kind) for kind, name in VARIABLES.items() if name in self._variables]
        conditions = self._testbed.conditions
        patience = patience if self._trial.saboteur.silent else conditions.patience
        return replace(conditions, patience=patience, repetition=Repetition(options=tuple(options)))

    @asynccontextmanager
    async def _subject(self, saboteur: Saboteur) -> AsyncIterator[Subject]:
        """The saboteur, under an address or command that a line can use."""
        subject = self._testbed.subject_for(saboteur, self._trial.transport, self._trial.revision)
        command = CommandSaboteur(subject) if isinstance(subject, StdioSaboteur) else None
        await subject.start()
        try:
            if command is not None:
                subject.name = await command.start()
            yield subject
        finally:
            if command is not None:
                await command.stop()
            await subject.stop()


def _token_option(kind: str) -> str:
    option = "--bearer" if kind == next(iter(VARIABLES)) else f"--bearer-{kind}"
    return f'{option} "${VARIABLES[kind]}"'


def _of(line: MessageLine, subject: Subject, other: Subject) -> MessageLine:
    """The line for another address or command."""
    trace = line.trace
    header = replace(trace.header, subject=_readdressed(trace.header.subject, subject, other))
    old, new = (
        fixed_part(subject.name).rpartition("//")[2].encode(),
        fixed_part(other.name).rpartition("//")[2].encode(),
    )
    frames = [
        replace(frame, raw=frame.raw.replace(old, new)) if frame.kind is Kind.REQUEST else frame
        for frame in trace.frames
    ]
    return replace(line, text=_readdressed(line.text, subject, other), trace=Trace(header, frames))


def _readdressed(text: str, subject: Subject, other: Subject) -> str:
    return text.replace(fixed_part(subject.name), fixed_part(other.name))


def fixed_part(name: str) -> str:
    """The part of an address that a line contains whatever the path, or a whole command."""
    return re.sub(r"^(\w+://[^/]+)/.*$", r"\1", name)


def kinds(results: Iterable[Repeated]) -> Mapping[str, int]:
    """Number of lines by their first word."""
    counts: dict[str, int] = {}
    for result in results:
        counts[result.kind] = counts.get(result.kind, 0) + 1
    return counts
