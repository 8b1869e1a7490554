"""A notification or response that is taken is answered with 202 and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe


@check(
    "An accepted notification gets 202 and no body, a refused one an error status",
    rows=("HTTP-10", "HTTP-11"),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    for call in trace.calls:
        if call.head is None or not call.asked or not all(map(needs_no_answer, call.asked)):
            continue
        refused = call.status >= 400 or call.code is not None
        if refused:
            yield observe(
                "HTTP-11",
                call.status >= 400,
                call,
                expected="an HTTP error status with the refusal",
                observed=f"status {call.status} with error {call.code}",
            )
        else:
            yield observe(
                "HTTP-10",
                call.status == 202 and not call.body,
                call,
                expected="status 202 without a body",
                observed=f"status {call.status}, {len(call.body)} bytes",
            )


def needs_no_answer(message: Message) -> bool:
    # Without an id nobody can be answered: this holds for a malformed notification as well.
    return message.is_response or (message.shape is Shape.NOTIFICATION and "id" not in message.fields)
