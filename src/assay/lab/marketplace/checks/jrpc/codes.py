"""An error carries the code of its cause."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace import jrpc_cause as cause
from assay.lab.marketplace.declaring import profile_check

CODES = "CONF-JRPC-02.codes"


@profile_check("Errors have the codes of their causes", rows=(CODES,))
def judge(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes(cause.PROBE):
        why = f"{probe.info.get('cause')}"
        codes = cause.codes_for(why, trace.transport, trace.revision)
        if codes:
            answer = next(iter(probe.answers), None)
            asked = next((one.method for one in probe.sent), "")
            expected = f"error {' or '.join(map(str, sorted(codes)))} for {why} in {asked}"
            right = answer is not None and type(answer.code) is int and answer.code in codes
            yield observe(CODES, right, probe, expected=expected, observed=answer or "no answer")
