"""Credentials that cannot be read are the client's mistake, and are answered as one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.check import check
from assay.lab.harness.subject.bearer import MALFORMED
from assay.lab.harness.trace.admission import calls_with, told
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import GUARDED
from assay.lab.harness.verdict import Observation, observe

ALLOWED: Final = (400, 401)
"""Whether such credentials are malformed or none, the specification leaves open."""


@check("Malformed credentials get 400, or 401", rows=("AU-06",), transports=GUARDED)
def judge(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, MALFORMED):
        right = call.status in ALLOWED
        yield observe("AU-06", right, call, expected="status 400 or 401", observed=told(call))
