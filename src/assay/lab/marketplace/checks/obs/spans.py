"""Whoever runs a server sees every request that it serves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.obs_spans import followed

ROW: Final = "CONF-OBS-05.spans"


@profile_check("Every request becomes a span", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    requests = list(followed(trace))
    is_silent = not any(one.span or one.elsewhere for one in requests)
    for one in requests:
        if one.elsewhere is not None:
            continue  # it may well be this one's: that it is in no trace of ours is for another row
        wanted = "a span of kind SERVER in the trace that the _meta of the request names"
        seen = f"no such span for {one.exchange.method}{', and none for any request' if is_silent else ''}"
        yield observe(ROW, one.span is not None, one, expected=wanted, observed=seen)
