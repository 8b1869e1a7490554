"""What both suites say of each scenario, in words that can be compared.

The official suite calls a scenario passed when nothing in it failed, even when nothing was checked. So its
checks are read instead: a scenario passed only if one of them succeeded that is about its subject.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.verdict import Outcome, Verdict
from interop.official import Tally

NOTHING = "nothing proved"
"""By the official suite: no check of the scenario's own subject failed, warned or succeeded."""
ABSENT = "absent"
"""The scenario was not run."""
TELLING = (Verdict.FAILURE, Verdict.WARNING)
# What two words of the suites mean the same thing: neither claims to have shown anything.
ALIKE = {(NOTHING, str(Outcome.NOT_APPLICABLE))}


class Said(msgspec.Struct, frozen=True):
    """The verdict of one suite, with the checks or the reason behind anything but success."""

    verdict: str
    because: list[str] = []


class Pair(msgspec.Struct, frozen=True):
    """One scenario with one subject at one revision, by both."""

    scenario: str
    revision: str
    official: Said
    ours: Said

    @property
    def agrees(self) -> bool:
        verdicts = (self.official.verdict, self.ours.verdict)
        return verdicts[0] == verdicts[1] or verdicts in ALIKE


class Seconds(msgspec.Struct, frozen=True):
    """One run of each suite, as a user waits for it, from start to end of its process."""

    official: float
    official_scenarios: int
    ours: float
    our_scenarios: int
    our_cells: int
    """Scenarios, each counted once per revision."""

    @property
    def ratio(self) -> float:
        return self.ours / self.official


class Judged(msgspec.Struct, frozen=True):
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
    judged: list[Judged]


def official_said(tally: Tally) -> Said:
    for status, verdict in (("FAILURE", Outcome.FAILED), ("WARNING", Outcome.WARNED)):
        if tally.counts[status]:
            # The message may hold ports and times; the id is enough to find it.
            because = sorted({line.partition(":")[0] for line in tally.complaints})
            return Said(str(verdict), because)
    return Said(str(Outcome.PASSED) if tally.proved else NOTHING)


def our_said(cell: CellResult) -> Said:
    because = sorted({f"{check.verdict} {check.id}" for check in cell.checks if check.verdict in TELLING})
    reason = f"{cell.outcome}: {cell.reason}" if cell.outcome is Outcome.NOT_APPLICABLE else cell.reason
    return Said(str(cell.outcome), because or ([reason] if reason else []))


def our_verdicts(run: Run, revision: str) -> dict[str, Said]:
    cells = [cell for cell in run.cells if cell.revision == revision]
    return {cell.official or cell.scenario: our_said(cell) for cell in cells}


def official_verdicts(tallies: Mapping[str, Tally]) -> dict[str, Said]:
    return {scenario: official_said(tally) for scenario, tally in tallies.items()}


def pairs(revision: str, official: Mapping[str, Said], ours: Mapping[str, Said]) -> Iterable[Pair]:
    """Every scenario that the official suite ran at that revision."""
    for scenario, said in official.items():
        yield Pair(scenario, revision, said, ours.get(scenario, Said(ABSENT)))
