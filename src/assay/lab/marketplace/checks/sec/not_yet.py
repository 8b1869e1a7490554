"""What will be good in some minutes is not good now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.subject.bearer import NOT_YET
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.sec_admission import refusals

ROW: Final = "CONF-SEC-04.not-yet"


@profile_check("A token that is to be good later gets 401", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    return refusals(trace, {NOT_YET: ROW})
