"""A token in the address is none: addresses are logged, kept and passed on."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.subject.bearer import NONE
from assay.lab.harness.trace.admission import calls_with, in_query, is_let_in, told
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe


@check("A token in the query is not taken", rows=("AU-63",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, NONE):
        if in_query(call):
            yield observe("AU-63", not is_let_in(call), call, expected="a refusal", observed=told(call))
