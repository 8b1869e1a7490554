"""The verdicts of both suites on each scenario, in comparable words.

The official suite reports a scenario as passed if nothing failed, even if nothing was checked. Its checks are
counted instead: a scenario passed only if a check about its subject succeeded.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.verdict import Outcome, Verdict
from interop.official import Tally

NOTHING = "nothing proved"
"""Of the official suite: no check about the scenario's subject failed, warned or succeeded."""
ABSENT = "absent"
"""The scenario was not run."""
PROBLEMS = (Verdict.FAILURE, Verdict.WARNING)
# Different words with the same meaning: neither suite claims to have shown anything.
ALIKE = {(NOTHING, str(Outcome.NOT_APPLICABLE))}


class SuiteVerdict(msgspec.Struct, frozen=True):
    """The verdict of one suite, with the checks or the reason behind anything but success."""

    verdict: str
    because: list[str] = []


class Pair(msgspec.Struct, frozen=True):
    """The verdicts of both suites on one scenario with one subject at one revision."""

    scenario: str
    revision: str
    official: SuiteVerdict
    ours: SuiteVerdict

    @property
    def agrees(self) -> bool:
        verdicts = (self.official.verdict, self.ours.verdict)
        return verdicts[0] == verdicts[1] or verdicts in ALIKE


class Seconds(msgspec.Struct, frozen=True):
    """Wall-clock time of one run of each suite, from the start to the end of its process."""

    official: float
    official_scenarios: int
    ours: float
    our_scenarios: int
    our_cells: int
    """Scenarios, each counted once per revision."""

    @property
    def ratio(self) -> float:
        return self.ours / self.official


class SubjectResult(msgspec.Struct, frozen=True):
    subject: str
    version: str
    seconds: Seconds
    pairs: list[Pair]

    @property
    def differences(self) -> Iterator[Pair]:
        return (pair for pair in self.pairs if not pair.agrees)


class Record(msgspec.Struct, frozen=True):
    suite: str
    """Name and version of the official suite."""
    judged: list[SubjectResult]


def official_verdict(tally: Tally) -> SuiteVerdict:
    for status, verdict in (("FAILURE", Outcome.FAILED), ("WARNING", Outcome.WARNED)):
        if tally.counts[status]:
            # The message may contain ports and times; the id identifies the check.
            because = sorted({line.partition(":")[0] for line in tally.complaints})
            return SuiteVerdict(str(verdict), because)
    return SuiteVerdict(str(Outcome.PASSED) if tally.proved else NOTHING)


def our_verdict(cell: CellResult) -> SuiteVerdict:
    because = sorted({f"{check.verdict} {check.id}" for check in cell.checks if check.verdict in PROBLEMS})
    reason = f"{cell.outcome}: {cell.reason}" if cell.outcome is Outcome.NOT_APPLICABLE else cell.reason
    return SuiteVerdict(str(cell.outcome), because or ([reason] if reason else []))


def our_verdicts(run: Run, revision: str) -> dict[str, SuiteVerdict]:
    cells = [cell for cell in run.cells if cell.revision == revision]
    return {cell.official or cell.scenario: our_verdict(cell) for cell in cells}


def official_verdicts(tallies: Mapping[str, Tally]) -> dict[str, SuiteVerdict]:
    return {scenario: official_verdict(tally) for scenario, tally in tallies.items()}


def pairs(
    revision: str, official: Mapping[str, SuiteVerdict], ours: Mapping[str, SuiteVerdict]
) -> Iterable[Pair]:
    """Every scenario that the official suite ran at that revision."""
    for scenario, verdict in official.items():
        yield Pair(scenario, revision, verdict, ours.get(scenario, SuiteVerdict(ABSENT)))
