"""Metadata of another resource leads to no authorization."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.authorization.journey import Journey, content
from assay.lab.client.authorization.official_auth import SHARED, walked
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "resource-mismatch-rejected"
WANTED: Final = "the metadata is read, and no authorization request follows"


@official_check("auth/resource-mismatch", "Metadata of another resource", rows=(ROW, *SHARED))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, _stopped(Journey(trace)), wanted={ROW: WANTED})


def _stopped(journey: Journey) -> Iterator[Observation]:
    read = [call for call in journey.resource_documents if call.status == 200 and content(call)]
    asked = [*journey.authorizations, *journey.exchanges]
    if read or asked:
        observed = "a request for authorization"
        yield observe(ROW, not asked, *read[:1], *asked[:1], expected=WANTED, observed=observed)
