"""Who sends log messages has declared `logging`."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.declaration import declaration
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("A server that logs has declared it", rows=("LOG-01",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    declared = declaration(trace)
    for message in trace.received:
        if message.method == "notifications/message" and declared is not None:
            yield observe(
                "LOG-01",
                declared.has("logging"),
                message,
                declared,
                expected="no log messages from a server without `logging`",
                observed=message,
            )
