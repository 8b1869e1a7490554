"""A token that was not issued as it is shown opens nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.subject.bearer import ALTERED, FORGED, GARBAGE, MALFORMED, STRANGER, UNSIGNED
from assay.lab.harness.trace.admission import calls_with, told
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.sec_admission import refusals

NO_TOKEN: Final = "CONF-SEC-04.malformed"
ROWS: Final = {
    GARBAGE: NO_TOKEN,
    ALTERED: "CONF-SEC-04.signature",
    UNSIGNED: "CONF-SEC-04.unsigned",
    FORGED: "CONF-SEC-04.forged",
    STRANGER: "CONF-SEC-04.forged",
}
UNREADABLE: Final = (400, 401)
"""Whether credentials that do not even have the form of a token are wrong or none, HTTP leaves open."""


@profile_check("A bad token gets 401", rows=tuple(dict.fromkeys(ROWS.values())), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from refusals(trace, ROWS)
    for _, call in calls_with(trace, MALFORMED):
        right = call.status in UNREADABLE
        yield observe(NO_TOKEN, right, call, expected="status 401 or 400", observed=told(call))
