"""Findings that say the same of several places, told once."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from .frame_places import places
from .scoring import Broken


class Alike(Struct, frozen=True):
    """One at least, all with the same words."""

    findings: list[Broken]

    @property
    def first(self) -> Broken:
        return self.findings[0]

    @property
    def where(self) -> str:
        """Transports, each with its revisions."""
        found: dict[str, list[str]] = {}
        for one in self.findings:
            found.setdefault(one.transport, []).append(one.protocol_version)
        return "; ".join(f"{name} {', '.join(dict.fromkeys(dates))}" for name, dates in found.items())

    @property
    def traces(self) -> list[str]:
        """The frames, trace by trace: `run/traces/a.ndjson#3-5`."""
        by_trace: dict[str, list[str]] = {}
        for frame in (frame for one in self.findings for frame in one.frames):
            by_trace.setdefault(frame.rpartition("#")[0], []).append(frame)
        return [places(frames) for frames in by_trace.values()]


def alike(findings: Iterable[Broken]) -> list[Alike]:
    """In the order in which each was first found."""
    found: dict[tuple[str, str, str, str], list[Broken]] = {}
    for one in findings:
        found.setdefault((one.scenario, one.level, one.expected, one.observed), []).append(one)
    return [Alike(several) for several in found.values()]
