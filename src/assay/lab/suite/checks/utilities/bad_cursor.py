"""A cursor that nobody gave out is refused."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import INVALID_PARAMS


@check("A cursor that was never given out gets -32602", rows=("PAG-03",))
def judge(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("bad cursor"):
        for answer in probe.answers:
            yield observe(
                "PAG-03",
                answer.code == INVALID_PARAMS,
                probe,
                expected=f"error {INVALID_PARAMS}",
                observed=answer,
            )
