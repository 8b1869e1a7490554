"""What was good once is not good for ever."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.subject.bearer import EXPIRED
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.sec_admission import refusals

ROW: Final = "CONF-SEC-04.expired"


@profile_check("An expired token gets 401", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    return refusals(trace, {EXPIRED: ROW})
