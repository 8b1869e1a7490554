"""Who is refused for the same reason again and again gives up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.authorization.journey import Journey
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

ROW = "AU-75"
MOST: Final = 3


@check("Attempts to get a scope are limited", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for call, challenge in journey.challenged:
        wanted = {*challenge.scopes}
        asked = [one for one in journey.authorizations if wanted and wanted <= {*one.scopes}]
        if call.status == 403 and asked and asked[0].n < call.request.n:
            expected = f"{MOST} authorizations at most for the scope {' '.join(challenge.scopes)}"
            yield observe(
                ROW, len(asked) <= MOST, *asked, expected=expected, observed=f"{len(asked)} of them"
            )
            return
