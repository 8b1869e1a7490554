"""A request whose response broke off is made again as another request."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from assay.lab.client.evidence import calls_of
from assay.lab.harness.check import check
from assay.lab.harness.trace.message import same_id
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

FRAGILE = "fragile"


@check("A broken request is made again under a new id", rows=("HTTP-22",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    called = calls_of(trace, FRAGILE)
    for broken, again in pairwise(called):
        if broken.answer is None:
            same = same_id(broken.request.id, again.request.id)
            expected, observed = "a new request with a new id", f"id {again.request.id!r} again"
            yield observe("HTTP-22", not same, broken, again, expected=expected, observed=observed)
