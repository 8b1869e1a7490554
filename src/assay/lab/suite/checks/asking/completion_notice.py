"""That a visit is over is told to who was asked for it, and says which."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.driver.question import ELICIT, questions
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

COMPLETE = "notifications/elicitation/complete"


@check("The end of an elicitation is told to who was asked", rows=("EL-17",))
def judge(trace: Trace) -> Iterator[Observation]:
    asked = [(one.frames[0], one.params.get("elicitationId")) for one in questions(trace, ELICIT)]
    for notice in trace.received:
        if notice.method != COMPLETE:
            continue
        told = notice.params.get("elicitationId")
        known = [
            name
            for frame, name in asked
            if frame.connection == notice.frame.connection and frame.n < notice.frame.n
        ]
        yield observe(
            "EL-17",
            isinstance(told, str) and told in known,
            notice,
            expected="the `elicitationId` of an elicitation that was asked for on this connection",
            observed=f"{told!r}",
        )
