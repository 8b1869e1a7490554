"""The unmet demands of a public server, from the summary of its bundle."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from assay.certify.finding_group import frame_ranges
from assay.certify.scoring import DemandFinding, Measure, Score
from assay.certify.summary_form import Counts, Summary

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


def certified_server(server: str, command: str, summary: Summary) -> CertifiedServer:
    return CertifiedServer(
        server=server,
        version=summary.server.version,
        transport=summary.server.transports[0],
        revisions=summary.server.protocol_versions,
        command=command,
        conclusion=str(summary.conclusion),
        counts=summary.summary,
        unmeasured=reasons(summary.checks),
        unmet=[unmet_demand(score) for score in summary.checks if score.findings],
    )


def reasons(checks: Sequence[Score]) -> dict[str, list[str]]:
    by_reason: dict[str, list[str]] = {}
    for score in checks:
        if score.measure is not Measure.MEASURED:
            by_reason.setdefault(f"{score.measure}: {score.reason}", []).append(score.id)
    return by_reason


def unmet_demand(score: Score) -> UnmetDemand:
    newest_last = sorted(score.findings, key=lambda broken: broken.protocol_version)
    return UnmetDemand(
        demand=score.id,
        title=score.title,
        status=str(score.status),
        revisions=sorted({broken.protocol_version for broken in newest_last}),
        count=len(newest_last),
        findings=list(map(finding, {_key(broken): broken for broken in newest_last}.values())),
    )


def _key(broken: DemandFinding) -> str:
    """The key of equal findings: without digests and trace ids, which differ each time."""
    return _NUMBER.sub("…", f"{broken.expected}\0{broken.observed}")


def finding(broken: DemandFinding) -> Finding:
    trace, _, numbers = frame_ranges(broken.frames).rpartition("#")
    name = trace.rpartition("/")[2]
    return Finding(broken.expected, broken.observed, broken.protocol_version, name, numbers, broken.excerpt)
