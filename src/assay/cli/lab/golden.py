"""How a golden run is recorded, or a run held against one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final, Protocol

import msgspec

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.output import emit
from assay.lab.harness.catalogue import Suite
from assay.lab.harness.golden.comparison import Comparison, compare_with_golden
from assay.lab.harness.golden.golden import (
    RULES,
    Golden,
    Place,
    expect_room,
    read_golden,
    record_golden,
)
from assay.lab.harness.golden.rules import BadGolden, Rules, read_rules
from assay.lab.harness.naming import matches
from assay.lab.harness.run.archive import CannotKeep
from assay.lab.harness.run.plan import is_named
from assay.lab.harness.run.run import Run
from assay.lab.harness.verdict import Outcome
from assay.lab.suites import suite_named

from .golden_text import told

PROVED: Final = (Outcome.PASSED, Outcome.WARNED, Outcome.FAILED)
AGAIN: Final = "record it again with --record-golden, or mend the file"
ELSEWHERE: Final = "name a new directory, or one that holds a golden run"


class GoldenStep(Protocol):
    """What is done with a finished run besides telling its verdict."""

    def finish(self, run: Run, place: Path, code: ExitCode) -> ExitCode:
        """The run is stored at that place, and comes to that code by itself; returns what it comes to."""


def golden_of(options: argparse.Namespace, suite: Suite) -> GoldenStep | None:
    """What the options want; whatever cannot work is found before anything is played."""
    try:
        if options.record_golden is not None:
            expect_room(options.record_golden)
            rules = read_rules(options.record_golden / RULES).and_ignore(options.golden_ignore)
            return Recording(options.record_golden, suite.name, rules)
        if options.against_golden is not None:
            return Comparing(read_golden(options.against_golden), options, suite)
    except BadGolden as error:
        hint = AGAIN if options.record_golden is None else ELSEWHERE
        raise CommandFailed(ExitCode.USAGE, str(error), hint) from error
    if options.golden_ignore:
        raise CommandFailed(ExitCode.USAGE, "--golden-ignore wants --record-golden or --against-golden")
    return None


class Recording:
    def __init__(self, directory: Path, suite: str, rules: Rules) -> None:
        self._directory = directory
        self._suite = suite
        self._rules = rules

    def finish(self, run: Run, place: Path, code: ExitCode) -> ExitCode:
        if run.interrupted or not any(cell.outcome in PROVED for cell in run.cells):
            problem = "no golden run was recorded: the run was interrupted, or proved nothing"
            raise CommandFailed(code, problem, "run it again until it comes to a verdict")
        try:
            count = record_golden(self._directory, run, place.parent, self._suite, self._rules)
            golden = msgspec.structs.replace(read_golden(self._directory), rules=self._rules)
            repeated = compare_with_golden(golden, run, place.parent)
        except CannotKeep as error:
            raise CommandFailed(ExitCode.INCOMPLETE, str(error), "name another directory") from error
        except BadGolden as error:
            raise CommandFailed(ExitCode.USAGE, str(error), AGAIN) from error
        print(f"golden: {count} scenario runs recorded in {self._directory}", file=sys.stderr)
        if repeated.differs:
            emit(told(repeated, golden, place.parent))
            return ExitCode.DOES_NOT_CONFORM
        return code


class Comparing:
    def __init__(self, golden: Golden, options: argparse.Namespace, suite: Suite) -> None:
        """
        Raises:
            CommandFailed: it is of another suite.
        """
        if golden.suite != suite.name:
            problem = f"{golden.directory} is of the suite {golden.suite}, and {suite.name} is to be played"
            hint = f"play that one with --suite {golden.suite}, or name another directory"
            raise CommandFailed(ExitCode.USAGE, problem, hint)
        rules = golden.rules.and_ignore(options.golden_ignore)
        self._golden = msgspec.structs.replace(golden, rules=rules)
        self._suite = suite
        self._scenarios: list[str] = options.scenario
        self._revisions: list[str] = options.spec_version
        self._text = options.format == "text"

    def finish(self, run: Run, place: Path, code: ExitCode) -> ExitCode:
        if run.interrupted:
            return code
        try:
            found = compare_with_golden(self._golden, run, place.parent)
        except BadGolden as error:
            raise CommandFailed(ExitCode.USAGE, str(error), AGAIN) from error
        found = self._selected(found, {subject.transport for subject in run.subjects})
        shown = told(found, self._golden, place.parent)
        if self._text:
            emit(shown)
        else:
            sys.stderr.write(shown)
        return ExitCode.DOES_NOT_CONFORM if found.differs else code

    def _selected(self, found: Comparison, transports: set[str]) -> Comparison:
        """What was not asked for is not missing."""
        missing = [place for place in found.missing if self._was_wanted(place, transports)]
        return msgspec.structs.replace(found, missing=missing, unselected=len(found.missing) - len(missing))

    def _was_wanted(self, place: Place, transports: set[str]) -> bool:
        scenario, transport, revision = place
        return (
            self._is_named(scenario)
            and transport in transports
            and revision in (self._revisions or (revision,))
        )

    def _is_named(self, name: str) -> bool:
        """By any of its names; a scenario that is no longer there has only one."""
        known = suite_named(self._golden.suite).scenarios.get(name)
        if known is not None and name not in self._suite.scenarios:
            return False  # of another group
        patterns = self._scenarios or ["*"]
        return any(is_named(known, one) if known else matches(one, name) for one in patterns)
