"""What a client announces has no id: it wants no answer."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.suite.envelope import notifications_have_no_id


@check("Notifications have no id", rows=("BASE-11",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    return notifications_have_no_id(trace.received)
