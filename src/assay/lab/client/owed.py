"""What the official suite counts against a client that came and did not do it: silence is a failure there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from assay.lab.harness import Observation, Trace, observe


def with_owed(trace: Trace, seen: Iterable[Observation], owed: Mapping[str, str]) -> Iterator[Observation]:
    """What was seen; then each row of `owed`, with what would have shown it, of which nothing was seen.

    A client that never said a word owes nothing: its scenario is incomplete.
    """
    shown = set()
    for one in seen:
        shown.add(one.requirement)
        yield one
    first = next(iter(trace.received), None)
    if first is None:
        return
    for row, expected in owed.items():
        if row not in shown:
            yield observe(row, False, first, expected=expected, observed="it never happened")
