"""What a client does not know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.evidence import went_on
from assay.lab.client.questions import ROOTS, questions
from assay.lab.harness.check import check
from assay.lab.harness.trace.shape import knows
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import METHOD_NOT_FOUND

REQUEST, NOTIFICATION, CANCELLATION, ROOTLESS = "HOSTILE-15", "HOSTILE-16", "CAN-09", "RT-04"
TELLING: Final = "telling"
REMARK: Final = "notifications/lab/remark"


@check("What is unknown is ignored, or refused", rows=(REQUEST, NOTIFICATION, CANCELLATION, ROOTLESS))
def judge(trace: Trace) -> Iterator[Observation]:
    expected = f"error {METHOD_NOT_FOUND}"
    for one in trace.exchanges():
        if one.answer is not None and not knows(one.request, trace.revision):
            observed = f"{one.answer}"
            yield observe(REQUEST, one.code == METHOD_NOT_FOUND, one, expected=expected, observed=observed)
    for question in questions(trace, ROOTS):
        if question.answered is not None and question.capability is None:
            observed = f"error {question.code}" if question.code else f"a result: {question.result}"
            yield observe(
                ROOTLESS, question.code == METHOD_NOT_FOUND, question, expected=expected, observed=observed
            )
    for row in (NOTIFICATION, CANCELLATION):
        yield from went_on(row, trace, TELLING, "the client to go on after what means nothing to it")
