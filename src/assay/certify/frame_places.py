"""Where the frames of a finding are, in few words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def places(frames: Sequence[str]) -> str:
    """`a#1, a#2, a#3, a#7` in short: `a#1-3, 7`."""
    by_trace: dict[str, list[int]] = {}
    for frame in frames:
        trace, _, number = frame.rpartition("#")
        if not number.isdecimal():  # nobody but a forger writes such
            return ", ".join(frames)
        by_trace.setdefault(trace, []).append(int(number))
    return "; ".join(f"{trace}#{_runs(numbers)}" for trace, numbers in by_trace.items())


def _runs(numbers: Iterable[int]) -> str:
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in found)
