"""A notification is never answered, whether the server knows it or not."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("Notifications are not answered", rows=("BASE-10",))
def judge(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("notification"):
        answers = probe.answers
        yield observe(
            "BASE-10",
            not answers,
            probe,
            expected="no response to a notification",
            observed=answers[0] if answers else "none",
        )
