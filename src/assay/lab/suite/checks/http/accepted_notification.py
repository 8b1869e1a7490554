"""A notification that is taken is answered with 202 and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.message import Shape
from assay.lab.harness.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe


@check("An accepted notification gets 202 and no body", rows=("HTTP-10",), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        kinds = {message.shape for message in call.asked}
        if kinds == {Shape.NOTIFICATION} and 0 < call.status < 400:
            yield observe(
                "HTTP-10",
                call.status == 202 and not call.body,
                call,
                expected="status 202 without a body",
                observed=f"status {call.status}, {len(call.body)} bytes",
            )
