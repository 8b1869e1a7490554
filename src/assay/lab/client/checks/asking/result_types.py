"""Kinds of results."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import AFTER, calls_of, is_over, went_on
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

UNTYPED, UNKNOWN, FOREIGN = "BASE-18", "BASE-19", "BASE-20"
ODD = {"quantum": UNKNOWN, "task": FOREIGN}
"""Tools whose results are of that kind: the client should end with an error, and not go on."""


@check("Results are of the kinds that were agreed on", rows=(UNTYPED, UNKNOWN, FOREIGN))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from went_on(UNTYPED, trace, "untyped", "a result without `resultType` to be complete")
    for kind, row in ODD.items():
        answered = [one for one in calls_of(trace, kind) if one.answer is not None]
        later = calls_of(trace, AFTER)
        if answered and (later or is_over(trace)):
            expected = f"an error of the client, which knows no results of the kind {kind!r}"
            seen = (answered[0], *later[:1])
            yield observe(
                row, not later, *seen, expected=expected, observed="the next step, as if all was well"
            )
