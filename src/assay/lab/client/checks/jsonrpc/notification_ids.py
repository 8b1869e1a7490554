"""What a client announces has no id: it wants no answer."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("Notifications have no id", rows=("BASE-11",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        if message.method.startswith("notifications/"):
            yield observe(
                "BASE-11",
                "id" not in message.fields,
                message,
                expected="a notification without `id`",
                observed=f"{message.method} with id {message.id!r}",
            )
