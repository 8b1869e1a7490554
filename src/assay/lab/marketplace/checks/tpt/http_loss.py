"""After a connection broke, who asks again is answered once."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check

ROW = "CONF-TPT-01.http.loss"


@profile_check("Connections that break", rows=(ROW,), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("again"):
        answers = [one for one in probe.answers if any(asked.id == one.id for asked in probe.sent)]
        held = len(probe.answers) == len(answers) == 1 and "result" in answers[0].fields
        told = "; ".join(map(str, probe.answers)) or "no answer"
        expected = f"one result for who asks again after a connection was {probe.info.get('after')}"
        yield observe(ROW, held, probe, expected=expected, observed=told)
