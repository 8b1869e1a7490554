"""The stored run, the only input of reports. Its JSON Schema is `docs/run.schema.json`."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.lab.harness.reason import Reason, ReasonKind, restored
from assay.lab.harness.subject.facts import Facts, UnsupportedRevision
from assay.lab.harness.trace.recorder import Redaction
from assay.lab.harness.verdict import CheckResult, Outcome, Verdict
from assay.model.version import VERSION

from . import version_1

FORMAT: Final = 2
LARGEST: Final = 256 * 1024 * 1024
Place = tuple[str, str, str]
"""Scenario, transport and revision."""


class CellResult(Struct, frozen=True, omit_defaults=True):
    """One scenario on one transport at one revision."""

    scenario: str
    title: str
    transport: str
    revision: str
    outcome: Outcome
    started: str
    """Start time, as ISO 8601 in UTC."""
    seconds: float = 0.0
    reason: str = ""
    """Why the scenario is incomplete or not applicable."""
    broke_off: bool = False
    """Whether the scenario did not reach its end."""
    attempt: int = 1
    checks: list[CheckResult] = []
    trace: str = ""
    """Path of the trace, relative to the stored run."""
    official: str = ""
    """The scenario's name in the official suite."""
    area: str = ""
    """The part of the protocol that the scenario covers."""
    reason_kind: ReasonKind | None = None
    reason_options: list[str] = []
    """Options that would make the scenario run, such as `--allow-effects`."""

    @property
    def place(self) -> Place:
        return self.scenario, self.transport, self.revision

    @property
    def typed_reason(self) -> Reason | None:
        return restored(self.reason, self.reason_kind, self.reason_options)


class SubjectRecord(Struct, frozen=True, omit_defaults=True):
    """A subject on one transport."""

    name: str
    transport: str
    facts: list[Facts] = []
    refused: list[UnsupportedRevision] = []


class EarlierRun(Struct, frozen=True, omit_defaults=True):
    """A run of the same subjects before this one, in numbers."""

    started: str
    seconds: float
    assay: str = ""
    failures: int = 0
    """Broken rules that are binding, each once."""
    warnings: int = 0
    outcomes: dict[str, int] = {}
    """Number of scenario runs by outcome."""


class Run(Struct, frozen=True, omit_defaults=True):
    format: int
    assay: str
    """The version of Assay that judged."""
    started: str
    seconds: float
    subjects: list[SubjectRecord]
    cells: list[CellResult]
    suite: str = "protocol"
    role: str = "server"
    """Role of the subjects."""
    strict: bool = False
    interrupted: bool = False
    expired: bool = False
    """Whether the deadline of the run passed."""
    problem: str = ""
    """Why nothing could be judged."""
    expected: list[str] = []
    """Failures that the baseline expects, as `scenario` or `scenario:check`."""
    stale: list[str] = []
    """Entries of the baseline that no longer fail."""
    earlier: list[EarlierRun] = []
    """Runs of the same subjects before this one, oldest first: not stored, but added for reports."""

    @property
    def flaky(self) -> list[Place]:
        """Places with different outcomes among their attempts."""
        by_place: dict[Place, set[Outcome]] = defaultdict(set)
        for cell in self.cells:
            by_place[cell.place].add(cell.outcome)
        return [place for place, outcomes in by_place.items() if len(outcomes) > 1]


def redacted(run: Run, redaction: Redaction) -> Run:
    """The run without credentials: a server may echo them in any text."""
    return msgspec.convert(redaction.value(msgspec.to_builtins(run)), Run)


class BadRun(ValueError):
    """A file is not a stored run, or has an unknown format."""


def dump_run(run: Run) -> bytes:
    return msgspec.json.format(msgspec.json.encode(run), indent=1) + b"\n"


def parse_run(data: bytes, place: str = "run.json") -> Run:
    """Read a stored run; older formats are upgraded.

    Raises:
        BadRun: not a stored run that this version can read.
    """
    if len(data) > LARGEST:
        raise BadRun(f"{place}: larger than {LARGEST} bytes")
    try:
        run = msgspec.json.decode(data, type=Run)
    except msgspec.DecodeError as error:
        raise BadRun(f"{place}: not a stored run: {error}") from None
    if run.format == version_1.FORMAT:
        return msgspec.structs.replace(version_1.upgraded(run), format=FORMAT)
    if run.format != FORMAT:
        raise BadRun(f"{place}: run format {run.format}: this version reads formats up to {FORMAT}")
    return run


class _Origin(Struct):
    format: int
    assay: str


def is_current(data: bytes) -> bool:
    """Whether this version of Assay stored the run. Others may word reasons and findings differently."""
    try:
        return msgspec.json.decode(data, type=_Origin) == _Origin(FORMAT, VERSION)
    except msgspec.DecodeError:
        return True


def run_schema() -> dict[str, Any]:
    """The JSON Schema of the file."""
    return msgspec.json.schema(Run)


def verdicts(cell: CellResult) -> set[Verdict]:
    return {check.verdict for check in cell.checks}
