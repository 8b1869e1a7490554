"""Where streams are not returned to, a request is simply sent again."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check

ROW = "CONF-TPT-01.http.reissue"
EXPECTED = {
    "with an event id": "the request is served as if Last-Event-ID were not there",
    "sent again": "the request is served under its new id",
}


@profile_check("Requests that are sent again", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes(*EXPECTED):
        results = [one for one in probe.answers if "result" in one.fields]
        observed = probe.answers[0] if probe.answers else "no answer"
        held = len(results) == len(probe.answers) == 1
        yield observe(ROW, held, probe, expected=EXPECTED[probe.label], observed=observed)
