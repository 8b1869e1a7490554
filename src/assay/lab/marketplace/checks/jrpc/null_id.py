"""A request whose id is null is not served."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check

NULL = "CONF-JRPC-02.id-null"


@profile_check("A null id is not served", rows=(NULL,))
def judge(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("null id"):
        served = [one for one in probe.answers if one.shape is Shape.RESULT]
        expected = "an error, or no answer, to a request with the id null"
        observed = served[0] if served else next(iter(probe.answers), "no answer")
        yield observe(NULL, not served, probe, expected=expected, observed=observed)
