"""Every message is one JSON object that says it is JSON-RPC 2.0."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation
from assay.lab.suite.envelope import are_objects


@check("Every message is a JSON-RPC 2.0 object", rows=("BASE-01",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    return are_objects(trace.received, trace.revision)
