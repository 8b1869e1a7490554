"""`vulnerabilities.json`: the known vulnerabilities of the components of an SBOM, with their severity.

The verdict is a pure function of the file and the time. A critical vulnerability fails and cannot be waived;
one of unknown severity fails unless it is waived by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
from msgspec import Struct

from assay.certify.scoring import Evidence
from assay.lab.harness.reason import ReasonKind
from assay.lab.harness.verdict import Verdict

from .osv import Match, ScanResult
from .severity import Rating, SeverityLevel, worst

FRESH: Final = timedelta(days=7)
"""The age of an export's newest record that causes a warning."""
MAX_NAMES: Final = 5


class BadReport(ValueError):
    """Not a vulnerability report; the message gives the cause."""


class _Part(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    pass


class SeverityScore(_Part, frozen=True):
    method: str
    score: str


class Vulnerability(_Part, frozen=True):
    id: str
    package: str
    version: str
    summary: str
    fixed: str | None
    aliases: list[str]
    level: SeverityLevel
    severity: list[SeverityScore]
    """The basis of the level; empty if it is unscored."""

    @property
    def names(self) -> set[str]:
        return {self.id, *self.aliases}


class UndecidedEntry(_Part, frozen=True):
    id: str
    package: str
    version: str
    reason: str


class VulnerabilityReport(_Part, frozen=True):
    export_sha256: str
    newest: str
    records: int
    findings: list[Vulnerability]
    undecided: list[UndecidedEntry]
    """Records whose versions cannot be compared with the installed one."""
    unmatched: list[str]
    """Components that could not be looked up."""
    waived: list[str]
    uncovered: list[str] = []
    """Ecosystems of components, of which the export has no record."""

    @property
    def counts(self) -> dict[str, int]:
        """The number of vulnerabilities by level, worst first; aliases count once."""
        counter = Counter(group[0].level for group in _groups(self.findings))
        return {str(level): counter[level] for level in SeverityLevel}


def describe(scan: ScanResult, waived: Iterable[str] = ()) -> VulnerabilityReport:
    return VulnerabilityReport(
        export_sha256=scan.export_sha256,
        newest=scan.newest,
        records=scan.records,
        findings=[_vulnerability(match, scan.findings) for match in scan.findings],
        undecided=[
            UndecidedEntry(match.id, match.package, match.version, match.reason) for match in scan.undecided
        ],
        unmatched=list(scan.unmatched),
        waived=sorted(set(waived)),
        uncovered=list(scan.uncovered),
    )


def encode(report: VulnerabilityReport) -> bytes:
    return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"


def read(data: bytes) -> VulnerabilityReport:
    """
    Raises:
        BadReport: the data is not a vulnerability report.
    """
    try:
        return msgspec.json.decode(data, type=VulnerabilityReport)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadReport(f"not a vulnerability report: {error}") from error


def judge(report: VulnerabilityReport, now: datetime) -> Evidence:
    critical = [finding.id for finding in report.findings if finding.level is SeverityLevel.CRITICAL]
    if critical:
        return Evidence(Verdict.FAILURE, f"critical: {_some(critical)}")
    unknown = sorted({*_unscored(report), *_undecided(report)})
    if unknown:
        hint = "review them, and waive harmless ones with --waive ID"
        return Evidence(Verdict.FAILURE, f"of unknown severity: {_some(unknown)}; {hint}")
    if report.uncovered:
        missing = f"the export has no record of {', '.join(report.uncovered)}; add --osv with one that has"
        return Evidence(Verdict.SKIPPED, missing, ("--osv",), ReasonKind.NEEDS_OPTION)
    counts = ", ".join(f"{count} {level}" for level, count in report.counts.items() if count) or "none"
    if is_stale(report, now):
        return Evidence(Verdict.WARNING, f"the export is outdated: its newest record is from {report.newest}")
    return Evidence(Verdict.SUCCESS, f"known vulnerabilities: {counts}; {report.records} records compared")


def is_stale(report: VulnerabilityReport, now: datetime) -> bool:
    """An invalid date counts as stale."""
    try:
        newest = datetime.fromisoformat(report.newest)
    except ValueError:
        return True
    aware = newest if newest.tzinfo else newest.replace(tzinfo=UTC)
    return now - aware > FRESH


def useless_waivers(report: VulnerabilityReport) -> list[str]:
    """Waivers that match no finding."""
    names = {name for finding in report.findings for name in finding.names}
    names |= {entry.id for entry in report.undecided}
    return [waiver for waiver in report.waived if waiver not in names]


def _unscored(report: VulnerabilityReport) -> Iterable[str]:
    waived = set(report.waived)
    unscored = (finding for finding in report.findings if finding.level is SeverityLevel.UNSCORED)
    return (finding.id for finding in unscored if not finding.names & waived)


def _undecided(report: VulnerabilityReport) -> Iterable[str]:
    return (entry.id for entry in report.undecided if entry.id not in report.waived)


def _vulnerability(match: Match, matches: Sequence[Match]) -> Vulnerability:
    rating = _rating(match, matches)
    return Vulnerability(
        id=match.id,
        package=match.package,
        version=match.version,
        summary=match.summary,
        fixed=match.fixed,
        aliases=list(match.aliases),
        level=rating.level,
        severity=[]
        if rating.level is SeverityLevel.UNSCORED
        else [SeverityScore(rating.method, rating.score)],
    )


def _rating(match: Match, matches: Sequence[Match]) -> Rating:
    """The rating of a match or, if it is unscored, the worst one of its aliases."""
    if match.rating.level is not SeverityLevel.UNSCORED:
        return match.rating
    names = {match.id, *match.aliases}
    same_package = [other for other in matches if other.package == match.package]
    return worst([other.rating for other in same_package if names & {other.id, *other.aliases}])


def _groups(findings: Sequence[Vulnerability]) -> list[list[Vulnerability]]:
    """Findings grouped by vulnerability, in each group the worst first."""
    groups: list[list[Vulnerability]] = []
    for finding in sorted(findings, key=lambda finding: tuple(SeverityLevel).index(finding.level)):
        for group in groups:
            if any(finding.package == other.package and finding.names & other.names for other in group):
                group.append(finding)
                break
        else:
            groups.append([finding])
    return groups


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more
