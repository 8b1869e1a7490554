"""A token that was not issued as it is shown, or is not good any more, opens nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.check import check
from assay.lab.harness.subject.bearer import ALTERED, EXPIRED, FORGED, GARBAGE, OTHER_ISSUER, UNSIGNED
from assay.lab.harness.trace.admission import calls_with, is_let_in, told
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import GUARDED
from assay.lab.harness.verdict import Observation, observe

BAD: Final = (GARBAGE, ALTERED, UNSIGNED, FORGED, EXPIRED, OTHER_ISSUER)


@check("A bad token gets 401", rows=("AU-05", "AU-63", "AU-65"), transports=GUARDED)
def judge(trace: Trace) -> Iterator[Observation]:
    for kind, call in calls_with(trace, *BAD):
        seen = f"{told(call)} for a token that is {kind}"
        yield observe("AU-63", not is_let_in(call), call, expected="a refusal", observed=seen)
        for row in ("AU-05", "AU-65"):
            yield observe(row, call.status == 401, call, expected="status 401", observed=seen)
