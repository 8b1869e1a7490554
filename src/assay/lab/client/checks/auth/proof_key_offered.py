"""Where a server does not say that it knows PKCE, the client goes no further."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.journey import Journey
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

ROW = "AU-83"
MEMBER = "code_challenge_methods_supported"


@check("A server without PKCE is refused", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for spot in journey.spots:
        metadata = journey.metadata_of(spot)
        if metadata and MEMBER not in metadata:
            made = [stop for stop in journey.authorizations if stop.spot == spot]
            evidence = made or journey.documents_of(spot)
            expected = f"no authorization request, since the metadata has no {MEMBER}"
            yield observe(ROW, not made, *evidence, expected=expected, observed=f"{len(made)} requests")
