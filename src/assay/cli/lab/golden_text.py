"""A run beside a golden one, for people: the same difference once, with the places where it shows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from assay.lab.harness.golden.comparison import CellDifference, Comparison, VerdictDifference
from assay.lab.harness.golden.frame_difference import FrameDifference
from assay.lab.harness.golden.golden import Golden, Place

from .differences import frame_lines

SHOWN: Final = 20
"""Differences that are written out, of verdicts and of frames each."""
PLACES: Final = 3


def told(found: Comparison, golden: Golden, home: Path) -> str:
    """Traces of the run are named from `home`."""
    lines = (
        *_verdicts(found.cells),
        *_frames(found.cells, golden, home),
        *_cells("missing: in the golden run, not in this one", found.missing),
        *_cells("extra: in this run, not in the golden one", found.extra),
        *_touched(found),
        headline(found, golden),
    )
    return "\n".join(lines) + "\n"


def headline(found: Comparison, golden: Golden) -> str:
    verdict = "differs from the golden run" if found.differs else "as the golden run"
    parts = [f"{len(found.cells)} of {found.compared} scenario runs differ"]
    parts += [f"{len(found.missing)} missing"] if found.missing else []
    parts += [f"{len(found.extra)} extra"] if found.extra else []
    parts += [f"{found.unselected} not asked for"] if found.unselected else []
    again = "; if that is right, record it again with --record-golden" if found.differs else ""
    return f"{verdict} {golden.directory}: {', '.join(parts)}{again}"


def _verdicts(cells: Iterable[CellDifference]) -> Iterator[str]:
    places: dict[VerdictDifference, list[str]] = {}
    for cell in cells:
        for change in cell.verdicts:
            places.setdefault(change, []).append(_named(cell.place))
    for change, at in list(places.items())[:SHOWN]:
        yield f"DIFFERS {change.what}: golden {change.golden}, now {change.now}"
        yield f"  in        {_several(at)}"
    yield from _rest(len(places), "verdict")


def _frames(cells: Iterable[CellDifference], golden: Golden, home: Path) -> Iterator[str]:
    """Once for each value that changed, whatever the number of frames that it shows in."""
    places: dict[tuple[str, str, str], list[tuple[CellDifference, FrameDifference]]] = {}
    for cell in cells:
        for frame in cell.frames:
            places.setdefault((frame.at, frame.before, frame.after), []).append((cell, frame))
    for at in list(places.values())[:SHOWN]:
        cell, frame = at[0]
        yield f"DIFFERS {_several([_named(one.place) for one, _ in at])}"
        yield from frame_lines(frame, "golden", "now")
        then, now = golden.directory / cell.golden_trace, home / cell.trace
        yield f"  traces    {_line(then, frame.frame_before)} and {_line(now, frame.frame_after)}"
    yield from _rest(len(places), "frame")


def _line(path: Path, frame: int | None) -> str:
    """A frame in its file: lines count from one, and the first is the header."""
    shown = os.path.relpath(path)
    return shown if frame is None else f"{shown}:{frame + 2}"


def _rest(count: int, what: str) -> Iterator[str]:
    if count > SHOWN:
        yield f"DIFFERS and {count - SHOWN} more differences of {what}s"


def _cells(title: str, places: list[Place]) -> Iterator[str]:
    if places:
        yield f"DIFFERS {title}: {_several([_named(place) for place in places])}"


def _named(place: Place) -> str:
    scenario, transport, revision = place
    return f"{scenario} ({transport}, {revision})"


def _several(named: list[str]) -> str:
    once = list(dict.fromkeys(named))
    more = f" and {len(once) - PLACES} more" if len(once) > PLACES else ""
    return f"{', '.join(once[:PLACES])}{more}"


def _touched(found: Comparison) -> Iterator[str]:
    shown = ", ".join(f"{name} ({count})" for name, count in found.touched.most_common())
    yield f"normalised: {shown or 'nothing'}"
