"""Every message of the subject fits the official types of the revision, in whatever scenario."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.trace.wire_shape import observed_shapes
from assay.lab.harness.verdict import Observation

ROW = "wire-schema-valid"


@official_check(ROW, "Messages fit the schema of the revision", rows=(ROW,), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    yield from observed_shapes(ROW, trace)
