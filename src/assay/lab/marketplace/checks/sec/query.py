"""A token in the address is none: addresses are logged, kept and passed on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.trace.admission import in_query, is_let_in, told
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check

ROW: Final = "CONF-SEC-04.query"


@profile_check("A token in the address is not taken", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if in_query(call) and call.head is not None:
            yield observe(ROW, not is_let_in(call), call, expected="a refusal", observed=told(call))
