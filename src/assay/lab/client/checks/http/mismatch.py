"""Told that its headers do not fit, a client lists the tools again and calls once more."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import calls_of, is_over
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import HEADER_MISMATCH

REMARKED = "remarked"


@check("Headers that do not fit are mended", rows=("XH-20",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    called = calls_of(trace, REMARKED)
    for refused in [one for one in called if one.code == HEADER_MISMATCH][:1]:
        since = refused.request.frame.n
        again = [one for one in called if one.request.frame.n > since]
        until = again[0].request.frame.n if again else len(trace.frames)
        listed = [one for one in trace.inquiries("tools/list") if since < one.request.frame.n < until]
        if again or is_over(trace):
            expected = "tools/list, then the call with other headers"
            observed = f"{len(listed)} listings and {len(again)} calls"
            holds = bool(listed and again)
            yield observe("XH-20", holds, refused, *listed, *again[:1], expected=expected, observed=observed)
