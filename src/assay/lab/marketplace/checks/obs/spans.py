"""Whoever runs a server sees every request that it serves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.obs_spans import followed

ROW: Final = "CONF-OBS-05.spans"


@profile_check("Every request becomes a span", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for one in followed(trace):
        if one.elsewhere is not None:
            continue  # it may well be this one's: that it is in no trace of ours is for another row
        wanted = f"a span of kind SERVER in trace {one.trace}, which the _meta of the request names"
        seen = f"no such span for {one.exchange.method}"
        yield observe(ROW, one.span is not None, one, expected=wanted, observed=seen)
