"""A cancellation that names nothing, or makes no sense, is ignored."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("Odd cancellations are ignored", rows=("CAN-09",))
def judge(trace: Trace) -> Iterator[Observation]:
    # HTTP has a status for what it does not take: a body that goes with it answers the request around.
    refused = {call.channel for call in trace.calls if call.status >= 400}
    for probe in trace.probes("odd cancellation"):
        answers = [one for one in probe.answers if one.frame.channel not in refused]
        yield observe(
            "CAN-09",
            not answers,
            probe,
            expected=f"silence: the cancellation {probe.info.get('what')}",
            observed=answers[0] if answers else "silence",
        )
