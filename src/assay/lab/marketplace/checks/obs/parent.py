"""A request is part of what its client does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.obs_spans import followed

ROW: Final = "CONF-OBS-05.parent"


@profile_check("The traceparent of a request is the parent of its span", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for one in followed(trace):
        wanted = f"parent {one.parent} in trace {one.trace}, as the _meta of the request says"
        if one.span is not None:
            seen = f"parent {one.span.parent or 'none'} for {one.exchange.method}"
            yield observe(ROW, one.span.parent == one.parent, one, expected=wanted, observed=seen)
        elif one.elsewhere is not None:
            seen = f"spans of {one.exchange.method} in other traces alone, as {one.elsewhere.trace}"
            yield observe(ROW, False, one, expected=wanted, observed=seen)
