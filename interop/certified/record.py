"""What was found of a public server: by demand, from the summary of its bundle."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from assay.certify.frame_places import places
from assay.certify.scoring import Broken, Measure, Score
from assay.certify.summary_form import Counts, Summary

_NUMBER: Final = re.compile(r"[0-9a-f]{32,}")


class Finding(msgspec.Struct, frozen=True):
    expected: str
    observed: str
    revision: str
    trace: str
    """Name of the file below `traces/<server>/`."""
    frames: str
    """Numbers in it."""
    excerpt: list[str]


class Found(msgspec.Struct, frozen=True):
    """A demand that is not met. What is found at several revisions is told once, as at the newest of them."""

    demand: str
    title: str
    status: str
    revisions: list[str]
    count: int
    """Findings in all, over all revisions."""
    findings: list[Finding]


class Certified(msgspec.Struct, frozen=True):
    server: str
    version: str
    transport: str
    revisions: list[str]
    command: str
    conclusion: str
    counts: Counts
    unmeasured: dict[str, list[str]]
    """Demands by the reason why nobody knows."""
    found: list[Found]


def certified(server: str, command: str, summary: Summary) -> Certified:
    return Certified(
        server=server,
        version=summary.server.version,
        transport=summary.server.transports[0],
        revisions=summary.server.protocol_versions,
        command=command,
        conclusion=str(summary.conclusion),
        counts=summary.summary,
        unmeasured=reasons(summary.checks),
        found=[found_in(one) for one in summary.checks if one.findings],
    )


def reasons(checks: Sequence[Score]) -> dict[str, list[str]]:
    by_reason: dict[str, list[str]] = {}
    for one in checks:
        if one.measure is not Measure.MEASURED:
            by_reason.setdefault(f"{one.measure}: {one.reason}", []).append(one.id)
    return by_reason


def found_in(one: Score) -> Found:
    newest_last = sorted(one.findings, key=lambda broken: broken.protocol_version)
    return Found(
        demand=one.id,
        title=one.title,
        status=str(one.status),
        revisions=sorted({broken.protocol_version for broken in newest_last}),
        count=len(newest_last),
        findings=list(map(finding, {_alike(broken): broken for broken in newest_last}.values())),
    )


def _alike(broken: Broken) -> str:
    """What makes two findings the same: digests and ids of traces aside, which differ each time."""
    return _NUMBER.sub("…", f"{broken.expected}\0{broken.observed}")


def finding(broken: Broken) -> Finding:
    trace, _, numbers = places(broken.frames).rpartition("#")
    name = trace.rpartition("/")[2]
    return Finding(broken.expected, broken.observed, broken.protocol_version, name, numbers, broken.excerpt)
