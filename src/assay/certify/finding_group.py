"""Identical findings from several transports and revisions, grouped so that a report shows each one once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from .scoring import DemandFinding


class FindingGroup(Struct, frozen=True):
    """One or more findings with the same text."""

    findings: list[DemandFinding]

    @property
    def first(self) -> DemandFinding:
        return self.findings[0]

    @property
    def where(self) -> str:
        """The transports, each with its revisions."""
        revisions: dict[str, list[str]] = {}
        for finding in self.findings:
            revisions.setdefault(finding.transport, []).append(finding.protocol_version)
        return "; ".join(f"{name} {', '.join(dict.fromkeys(dates))}" for name, dates in revisions.items())

    @property
    def traces(self) -> list[str]:
        """The frames of each trace: `run/traces/a.ndjson#3-5`."""
        by_trace: dict[str, list[str]] = {}
        for frame in (frame for finding in self.findings for frame in finding.frames):
            by_trace.setdefault(frame.rpartition("#")[0], []).append(frame)
        return [frame_ranges(frames) for frames in by_trace.values()]


def group_findings(findings: Iterable[DemandFinding]) -> list[FindingGroup]:
    """Group by scenario and text, in the order of the first finding of each group."""
    groups: dict[tuple[str, str, str, str], list[DemandFinding]] = {}
    for finding in findings:
        key = finding.scenario, finding.level, finding.expected, finding.observed
        groups.setdefault(key, []).append(finding)
    return [FindingGroup(group) for group in groups.values()]


def frame_ranges(frames: Sequence[str]) -> str:
    """Shorten `a#1, a#2, a#3, a#7` to `a#1-3, 7`."""
    by_trace: dict[str, list[int]] = {}
    for frame in frames:
        trace, _, number = frame.rpartition("#")
        if not number.isdecimal():  # only a forged summary contains such a frame
            return ", ".join(frames)
        by_trace.setdefault(trace, []).append(int(number))
    return "; ".join(f"{trace}#{_ranges(numbers)}" for trace, numbers in by_trace.items())


def _ranges(numbers: Iterable[int]) -> str:
    ranges: list[list[int]] = []
    for number in sorted(set(numbers)):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in ranges)
