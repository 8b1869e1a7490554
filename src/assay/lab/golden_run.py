"""Golden runs: a finished run is recorded as the expected one, or compared with it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from assay.lab.harness.catalogue import Suite
from assay.lab.harness.golden import golden as harness
from assay.lab.harness.golden.comparison import Comparison, compare_with_golden
from assay.lab.harness.golden.rules import BadGolden, Rules, read_rules
from assay.lab.harness.naming import matches
from assay.lab.harness.run.archive import StorageError
from assay.lab.harness.run.plan import is_named
from assay.lab.harness.run.run import Run
from assay.lab.harness.verdict import Outcome

from .error import CannotJudge, CannotStore, InvalidOptions
from .options import Golden, Place, RunOptions
from .suites import suite_named

PROVED: Final = (Outcome.PASSED, Outcome.WARNED, Outcome.FAILED)
_AGAIN: Final = "record it again with --record-golden, or correct the file"
_ELSEWHERE: Final = "name a new directory, or one that holds a golden run"


class GoldenResult(Struct, frozen=True):
    golden: harness.Golden
    comparison: Comparison
    recorded: int = 0
    """Scenario runs that were written; a recording is compared with itself, as a repeated run may differ."""


class GoldenStep:
    """What is done with a finished run. Mistakes are found when this is made, before anything runs."""

    def __init__(self, options: RunOptions, suite: Suite) -> None:
        """
        Raises:
            InvalidOptions: the directory cannot be used, or holds a run of another suite.
        """
        self._options: Golden = options.golden
        self._scenarios, self._revisions = options.scenario, options.spec_version
        self._suite = suite
        if options.output is None:
            raise InvalidOptions("a golden run compares traces, and none are stored", "set `output`")
        if options.golden.record and options.golden.against:
            raise InvalidOptions("a run is recorded or compared, not both")
        try:
            self._rules, self._golden = self._read()
        except BadGolden as error:
            raise InvalidOptions(str(error), _ELSEWHERE if self._options.record else _AGAIN) from error

    def _read(self) -> tuple[Rules, harness.Golden | None]:
        ignore = list(self._options.ignore)
        if self._options.record is not None:
            harness.expect_room(self._options.record)
            return read_rules(self._options.record / harness.RULES).and_ignore(ignore), None
        if self._options.against is None:
            raise InvalidOptions("--golden-ignore wants --record-golden or --against-golden")
        golden = harness.read_golden(self._options.against)
        if golden.suite != self._suite.name:
            problem = f"{golden.directory} is of the suite {golden.suite}, not {self._suite.name}"
            fix = f"run that one with --suite {golden.suite}, or name another directory"
            raise InvalidOptions(problem, fix)
        rules = golden.rules.and_ignore(ignore)
        return rules, msgspec.structs.replace(golden, rules=rules)

    def finish(self, run: Run, home: Path) -> GoldenResult:
        """Record or compare a run whose traces are named from `home`.

        Raises:
            CannotJudge: the run has nothing to record.
            CannotStore: the golden run cannot be written.
            InvalidOptions: the golden run was changed after it was recorded.
        """
        try:
            if self._options.record is not None:
                return self._record(self._options.record, run, home)
            assert self._golden is not None
            comparison = compare_with_golden(self._golden, run, home)
        except BadGolden as error:
            raise InvalidOptions(str(error), _AGAIN) from error
        transports = {subject.transport for subject in run.subjects}
        return GoldenResult(self._golden, self._selected(comparison, transports))

    def _record(self, directory: Path, run: Run, home: Path) -> GoldenResult:
        if run.interrupted or run.expired or not any(cell.outcome in PROVED for cell in run.cells):
            problem = "no golden run was recorded: the run was interrupted, or proved nothing"
            raise CannotJudge(problem, "run it again until it comes to a verdict")
        try:
            count = harness.record_golden(directory, run, home, self._suite.name, self._rules)
        except StorageError as error:
            raise CannotStore(str(error), "name another directory") from error
        golden = msgspec.structs.replace(harness.read_golden(directory), rules=self._rules)
        return GoldenResult(golden, compare_with_golden(golden, run, home), count)

    def _selected(self, comparison: Comparison, transports: set[str]) -> Comparison:
        """Scenario runs that were not selected are not missing."""
        missing = [place for place in comparison.missing if self._is_selected(place, transports)]
        unselected = len(comparison.missing) - len(missing)
        return msgspec.structs.replace(comparison, missing=missing, unselected=unselected)

    def _is_selected(self, place: Place, transports: set[str]) -> bool:
        scenario, transport, revision = place
        in_revisions = revision in (self._revisions or (revision,))
        return self._is_named(scenario) and transport in transports and in_revisions

    def _is_named(self, name: str) -> bool:
        """By any of its names; a scenario that does not exist any more has only one."""
        assert self._golden is not None
        known = suite_named(self._golden.suite).scenarios.get(name)
        if known is not None and name not in self._suite.scenarios:
            return False  # of another group
        patterns = self._scenarios or ("*",)
        return any(is_named(known, text) if known else matches(text, name) for text in patterns)
