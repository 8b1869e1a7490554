"""`vulnerabilities.json`: what an OSV export says of the components of an SBOM, with how bad it is.

Whether that is good enough is a pure function of the file and a moment: no critical one, and none of which
nobody knows how bad it is, unless it was waived by name. A critical one cannot be waived.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
from msgspec import Struct

from assay.certify.scoring import Evidence
from assay.lab.harness.verdict import Verdict

from .osv import Finding, Measured
from .severity import Level, Rating, worst

FRESH: Final = timedelta(days=7)
"""How old the youngest record of an export may be before it is warned of."""
SHOWN: Final = 5


class BadReport(ValueError):
    """No report on vulnerabilities; the text says why."""


class _Part(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    pass


class Method(_Part, frozen=True):
    method: str
    score: str


class Vulnerability(_Part, frozen=True):
    id: str
    package: str
    version: str
    summary: str
    fixed: str | None
    aliases: list[str]
    level: Level
    severity: list[Method]
    """What the level stands on; none where it is unscored."""

    @property
    def names(self) -> set[str]:
        return {self.id, *self.aliases}


class Doubt(_Part, frozen=True):
    id: str
    package: str
    version: str
    reason: str


class VulnerabilityReport(_Part, frozen=True):
    export_sha256: str
    newest: str
    records: int
    findings: list[Vulnerability]
    undecided: list[Doubt]
    """Records of which nobody can tell whether they concern what is installed."""
    unmatched: list[str]
    """Components that cannot be looked up."""
    waived: list[str]

    @property
    def counts(self) -> dict[str, int]:
        """How many of each level, the worst first; each vulnerability once, by whatever name."""
        found = Counter(group[0].level for group in _groups(self.findings))
        return {str(level): found[level] for level in Level}


def describe(measured: Measured, waived: Iterable[str] = ()) -> VulnerabilityReport:
    return VulnerabilityReport(
        export_sha256=measured.export_sha256,
        newest=measured.newest,
        records=measured.records,
        findings=[_vulnerability(one, measured.findings) for one in measured.findings],
        undecided=[Doubt(one.id, one.package, one.version, one.reason) for one in measured.undecided],
        unmatched=list(measured.unmatched),
        waived=sorted(set(waived)),
    )


def encode(report: VulnerabilityReport) -> bytes:
    return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"


def read(data: bytes) -> VulnerabilityReport:
    """
    Raises:
        BadReport: these bytes are none.
    """
    try:
        return msgspec.json.decode(data, type=VulnerabilityReport)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadReport(f"no report on vulnerabilities: {error}") from error


def judge(report: VulnerabilityReport, now: datetime) -> Evidence:
    critical = [one.id for one in report.findings if one.level is Level.CRITICAL]
    if critical:
        return Evidence(Verdict.FAILURE, f"critical: {_some(critical)}")
    unknown = sorted({*_unscored(report), *_undecided(report)})
    if unknown:
        hint = "look into them, and waive what does no harm with --waive ID"
        return Evidence(Verdict.FAILURE, f"nobody says how bad these are: {_some(unknown)}; {hint}")
    told = ", ".join(f"{count} {level}" for level, count in report.counts.items() if count) or "none"
    if is_stale(report, now):
        return Evidence(Verdict.WARNING, f"the export is old: its newest record is of {report.newest}")
    return Evidence(Verdict.SUCCESS, f"known vulnerabilities: {told}; {report.records} records compared")


def is_stale(report: VulnerabilityReport, now: datetime) -> bool:
    """A date that cannot be read is no fresh one."""
    try:
        newest = datetime.fromisoformat(report.newest)
    except ValueError:
        return True
    aware = newest if newest.tzinfo else newest.replace(tzinfo=UTC)
    return now - aware > FRESH


def useless_waivers(report: VulnerabilityReport) -> list[str]:
    """Those that name nothing that was found."""
    names = {name for one in report.findings for name in one.names} | {one.id for one in report.undecided}
    return [one for one in report.waived if one not in names]


def _unscored(report: VulnerabilityReport) -> Iterable[str]:
    waived = set(report.waived)
    return (one.id for one in report.findings if one.level is Level.UNSCORED and not one.names & waived)


def _undecided(report: VulnerabilityReport) -> Iterable[str]:
    return (one.id for one in report.undecided if one.id not in report.waived)


def _vulnerability(found: Finding, every: Sequence[Finding]) -> Vulnerability:
    rating = _rating(found, every)
    return Vulnerability(
        id=found.id,
        package=found.package,
        version=found.version,
        summary=found.summary,
        fixed=found.fixed,
        aliases=list(found.aliases),
        level=rating.level,
        severity=[] if rating.level is Level.UNSCORED else [Method(rating.method, rating.score)],
    )


def _rating(found: Finding, every: Sequence[Finding]) -> Rating:
    """Its own; where that says nothing, the worst of the same vulnerability's under another name."""
    if found.rating.level is not Level.UNSCORED:
        return found.rating
    names = {found.id, *found.aliases}
    alike = [one.rating for one in every if one.package == found.package and names & {one.id, *one.aliases}]
    return worst(alike)


def _groups(findings: Sequence[Vulnerability]) -> list[list[Vulnerability]]:
    """By vulnerability, the worst name of each first."""
    groups: list[list[Vulnerability]] = []
    for one in sorted(findings, key=lambda one: tuple(Level).index(one.level)):
        for group in groups:
            if any(one.package == other.package and one.names & other.names for other in group):
                group.append(one)
                break
        else:
            groups.append([one])
    return groups


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
