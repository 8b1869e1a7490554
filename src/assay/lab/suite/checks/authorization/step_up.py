"""Whoever comes back with the scopes that a challenge named is let in."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.subject.bearer import STEPPED
from assay.lab.harness.trace.admission import calls_with, told
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe


@check("A challenge names all scopes that it takes", rows=("AU-70", "AU-71"), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, STEPPED):
        for row in ("AU-70", "AU-71"):
            yield observe(
                row,
                call.status != 403,
                call,
                expected="no second challenge: the token has the scopes of the first",
                observed=told(call),
            )
