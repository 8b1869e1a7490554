"""A request is part of what its client does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.obs_spans import spanned

ROW: Final = "CONF-OBS-05.parent"


@profile_check("The traceparent of a request is the parent of its span", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for one, span in spanned(trace):
        seen = f"parent {span.parent or 'none'} for {one.exchange.method}"
        yield observe(ROW, span.parent == one.parent, one, expected=f"parent {one.parent}", observed=seen)
