"""Clocks differ: what is good in some seconds is good."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.subject.bearer import AHEAD, SKEWED
from assay.lab.harness.trace.admission import calls_with, is_let_in, told
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check

ROW: Final = "CONF-SEC-04.skew"


@profile_check("Clocks may differ by some seconds", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for _, call in calls_with(trace, SKEWED):
        seen = f"{told(call)} for a token whose nbf is {AHEAD[SKEWED]} s from now"
        yield observe(ROW, is_let_in(call), call, expected="to be let in", observed=seen)
