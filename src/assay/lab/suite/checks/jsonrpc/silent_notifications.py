"""A notification is never answered, whether the server knows it or not."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message, Shape
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.trace.unexplained_error import names_nothing
from assay.lab.harness.verdict import Observation, observe


@check("Notifications are not answered", rows=("BASE-10",))
def judge(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("notification"):
        answers = [one for one in probe.answers if not _is_refusal(trace, one)]
        yield observe(
            "BASE-10",
            not answers,
            probe,
            expected="no response to a notification",
            observed=answers[0] if answers else "none",
        )


def _is_refusal(trace: Trace, answer: Message) -> bool:
    """HTTP refuses what it cannot accept with a status, and may explain that in an error without an id."""
    nameless = answer.shape is Shape.ERROR and names_nothing(answer)
    return nameless and trace.status_of(answer) >= 400
