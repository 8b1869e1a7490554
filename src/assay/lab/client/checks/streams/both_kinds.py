"""An answer is understood whether it is one JSON document or an event stream, with comments in it or not."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import AFTER, went_on
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation

PLAIN, STREAMED, COMMENTED = "plain", "streamed", "commented"


@check("Both kinds of answer are understood", rows=("HTTP-13", "HTTP-65"), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from went_on("HTTP-13", trace, PLAIN, "an answer as JSON to be understood", then=STREAMED)
    yield from went_on("HTTP-13", trace, STREAMED, "an answer as events to be understood", then=COMMENTED)
    yield from went_on("HTTP-65", trace, COMMENTED, "comments in a stream to be ignored", then=AFTER)
