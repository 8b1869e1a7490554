"""Nobody can guess the session of another."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.checks.http.session_id import GUESSABLE, differing, minted


@check("Session ids are not deterministic", rows=("SEC-03",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    given = [(call, value) for call in trace.calls if (value := minted(call)) is not None]
    for (one, first), (other, second) in combinations(given, 2):
        yield observe(
            "SEC-03",
            differing(first, second) >= GUESSABLE,
            one,
            other,
            expected="ids that have nothing to do with each other",
            observed=f"{first!r} and {second!r}",
        )
