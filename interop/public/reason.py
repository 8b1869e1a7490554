"""Why each finding is true, written after reading the clause and, if available, the subject's source.

A finding without a reason and a reason without a finding both fail the run.
"""

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from interop.public.record import JudgedPackage, Key


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    check: str
    requirement: str
    subjects: list[str]
    why: str
    debatable: bool = False
    """Whether the clause can be read so that the subject conforms."""

    @property
    def key(self) -> Key:
        return self.check, self.requirement


class Reasons:
    def __init__(self, reasons: Iterable[Reason]) -> None:
        self._reasons = {(subject, reason.key): reason for reason in reasons for subject in reason.subjects}

    def of(self, subject: str, key: Key) -> Reason | None:
        return self._reasons.get((subject, key))

    def breaches(self, judged: Iterable[JudgedPackage]) -> Iterator[str]:
        """Findings without a reason and reasons without a finding, for the judged subjects."""
        results = list(judged)
        findings = {(result.name, finding.key) for result in results for finding in result.findings}
        explained = {place for place in self._reasons if place[0] in {result.name for result in results}}
        for subject, (check, requirement) in sorted(findings - explained):
            yield f"{subject}: {check} ({requirement}) has no reason"
        for subject, (check, requirement) in sorted(explained - findings):
            yield f"{subject}: the reason for {check} ({requirement}) has no finding"


def read_reasons(path: Path) -> Reasons:
    rows = tomllib.loads(path.read_text("utf-8")).get("reason", [])
    return Reasons(msgspec.convert(rows, list[Reason]))
