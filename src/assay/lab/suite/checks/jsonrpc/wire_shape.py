"""Every message of the subject fits the official types of the revision."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.trace.wire_shape import observed_shapes
from assay.lab.harness.verdict import Observation


@check("Messages fit the schema of the revision", rows=("SHAPE-01",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from observed_shapes("SHAPE-01", trace)
