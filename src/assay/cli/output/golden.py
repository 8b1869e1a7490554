"""The comparison with a golden run: each difference once, with the places where it occurs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from assay.lab.harness.golden.comparison import CellDifference, Comparison, VerdictDifference
from assay.lab.harness.golden.frame_difference import FrameDifference
from assay.lab.harness.golden.golden import Golden, Place

from .difference import frame_lines

MOST: Final = 20
"""Differences that are written out, of verdicts and of frames each."""
PLACES: Final = 3


def golden_lines(comparison: Comparison, golden: Golden, home: Path) -> Iterator[str]:
    """Traces of the run are named from `home`."""
    yield from _verdicts(comparison.cells)
    yield from _frames(comparison.cells, golden, home)
    yield from _cells("missing: in the golden run, not in this one", comparison.missing)
    yield from _cells("extra: in this run, not in the golden one", comparison.extra)
    yield from _normalised(comparison)
    yield headline(comparison, golden)


def headline(comparison: Comparison, golden: Golden) -> str:
    verdict = "differs from the golden run" if comparison.differs else "same as the golden run"
    parts = [f"{len(comparison.cells)} of {comparison.compared} scenario runs differ"]
    parts += [f"{len(comparison.missing)} missing"] if comparison.missing else []
    parts += [f"{len(comparison.extra)} extra"] if comparison.extra else []
    parts += [f"{comparison.unselected} not selected"] if comparison.unselected else []
    again = "; if that is right, record it again with --record-golden" if comparison.differs else ""
    return f"{verdict} {golden.directory}: {', '.join(parts)}{again}"


def _verdicts(cells: Iterable[CellDifference]) -> Iterator[str]:
    places: dict[VerdictDifference, list[str]] = {}
    for cell in cells:
        for change in cell.verdicts:
            places.setdefault(change, []).append(_named(cell.place))
    for change, at in list(places.items())[:MOST]:
        yield f"DIFFERS {change.name}: golden {change.golden}, now {change.now}"
        yield f"  in        {_several(at)}"
    yield from _rest(len(places), "verdict")


def _frames(cells: Iterable[CellDifference], golden: Golden, home: Path) -> Iterator[str]:
    """Once for each value that changed, in however many frames it occurs."""
    places: dict[tuple[str, str, str], list[tuple[CellDifference, FrameDifference]]] = {}
    for cell in cells:
        for frame in cell.frames:
            places.setdefault((frame.at, frame.before, frame.after), []).append((cell, frame))
    for at in list(places.values())[:MOST]:
        cell, frame = at[0]
        yield f"DIFFERS {_several([_named(changed.place) for changed, _ in at])}"
        yield from frame_lines(frame, "golden", "now")
        then, now = golden.directory / cell.golden_trace, home / cell.trace
        yield f"  traces    {_line(then, frame.frame_before)} and {_line(now, frame.frame_after)}"
    yield from _rest(len(places), "frame")


def _line(path: Path, frame: int | None) -> str:
    """A frame in its file: lines count from one, and the first is the header."""
    name = os.path.relpath(path)
    return name if frame is None else f"{name}:{frame + 2}"


def _rest(count: int, kind: str) -> Iterator[str]:
    if count > MOST:
        yield f"DIFFERS and {count - MOST} more differences of {kind}s"


def _cells(title: str, places: list[Place]) -> Iterator[str]:
    if places:
        yield f"DIFFERS {title}: {_several([_named(place) for place in places])}"


def _named(place: Place) -> str:
    scenario, transport, revision = place
    return f"{scenario} ({transport}, {revision})"


def _several(names: list[str]) -> str:
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - PLACES} more" if len(distinct) > PLACES else ""
    return f"{', '.join(distinct[:PLACES])}{more}"


def _normalised(comparison: Comparison) -> Iterator[str]:
    counts = ", ".join(f"{name} ({count})" for name, count in comparison.applied.most_common())
    yield f"normalised: {counts or 'nothing'}"
