"""The unmet demands of a public server, from the summary of its bundle."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from assay.certify.conclusion import conclude
from assay.certify.finding_group import frame_ranges
from assay.certify.profile_list import shipped
from assay.certify.scoring import DemandFinding, Evidence, Measure, Score, Unmeasured, score
from assay.certify.summary_form import Counts, Summary
from assay.lab.harness.run.run import Run
from assay.lab.harness.verdict import Verdict

FIRST: Final = "intelgraph/2025-10"
_NUMBER: Final = re.compile(r"[0-9a-f]{32,}")


class Finding(msgspec.Struct, frozen=True):
    expected: str
    observed: str
    revision: str
    trace: str
    """Name of the file below `traces/<server>/`."""
    frames: str
    """Frame numbers in that file."""
    excerpt: list[str]


class UnmetDemand(msgspec.Struct, frozen=True):
    """A demand that is not met. A finding at several revisions is listed once, at the newest of them."""

    demand: str
    title: str
    status: str
    revisions: list[str]
    count: int
    """Number of findings over all revisions."""
    findings: list[Finding]
    reason: str = ""
    """Why, of a demand that is not judged from traces."""


class Edition(msgspec.Struct, frozen=True):
    """What a server would get by another edition of the profile, from the same run."""

    profile: str
    conclusion: str
    passed: int
    scored: int
    unmet: list[str]


class CertifiedServer(msgspec.Struct, frozen=True):
    server: str
    version: str
    transport: str
    revisions: list[str]
    command: str
    conclusion: str
    counts: Counts
    unmeasured: dict[str, list[str]]
    """Demands by reason."""
    unmet: list[UnmetDemand] = msgspec.field(name="found")
    profile: str = FIRST
    gaps: list[str] = []
    first: Edition | None = None
    """By the first edition."""


def certified_server(server: str, command: str, summary: Summary, run: Run) -> CertifiedServer:
    return CertifiedServer(
        server=server,
        version=summary.server.version,
        transport=summary.server.transports[0],
        revisions=summary.server.protocol_versions,
        command=command,
        conclusion=str(summary.conclusion),
        counts=summary.summary,
        unmeasured=reasons(summary.checks),
        unmet=[unmet_demand(entry) for entry in summary.checks if is_unmet(entry)],
        profile=summary.profile.id,
        gaps=list(summary.gaps or ()),
        first=by_first_edition(summary, run),
    )


def is_unmet(entry: Score) -> bool:
    return bool(entry.findings) or (entry.scored and entry.status is Verdict.FAILURE)


def by_first_edition(summary: Summary, run: Run) -> Edition:
    profile = shipped(FIRST)
    known = {
        check.id: Evidence(check.status, check.reason, tuple(check.reason_options), check.reason_kind)
        for check in summary.checks
    }
    unmeasured = {
        check.id: Unmeasured(check.measure, check.typed_reason)
        for check in summary.checks
        if check.typed_reason is not None
    }
    scores = score(run, profile, known, unmeasured)
    counted = [entry for entry in scores if entry.scored and entry.measure is Measure.MEASURED]
    unmet = [entry.id for entry in counted if entry.status is Verdict.FAILURE]
    conclusion = str(conclude(scores, run, profile))
    return Edition(profile.id, conclusion, len(counted) - len(unmet), len(counted), unmet)


def reasons(checks: Sequence[Score]) -> dict[str, list[str]]:
    by_reason: dict[str, list[str]] = {}
    for entry in checks:
        if entry.measure is not Measure.MEASURED:
            by_reason.setdefault(f"{entry.measure}: {entry.reason}", []).append(entry.id)
    return by_reason


def unmet_demand(entry: Score) -> UnmetDemand:
    newest_last = sorted(entry.findings, key=lambda broken: broken.protocol_version)
    return UnmetDemand(
        demand=entry.id,
        title=entry.title,
        status=str(entry.status),
        revisions=sorted({broken.protocol_version for broken in newest_last}),
        count=len(newest_last),
        findings=list(map(finding, {_key(broken): broken for broken in newest_last}.values())),
        reason=entry.reason,
    )


def _key(broken: DemandFinding) -> str:
    """The key of equal findings: without digests and trace ids, which differ each time."""
    return _NUMBER.sub("…", f"{broken.expected}\0{broken.observed}")


def finding(broken: DemandFinding) -> Finding:
    trace, _, numbers = frame_ranges(broken.frames).rpartition("#")
    name = trace.rpartition("/")[2]
    return Finding(broken.expected, broken.observed, broken.protocol_version, name, numbers, broken.excerpt)
