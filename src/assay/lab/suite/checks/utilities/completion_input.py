"""What cannot be completed is refused, and inputs are looked at."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Shape
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import INVALID_PARAMS

ROWS = {"unknown prompt": "CMP-04", "no argument": "CMP-04", "value is no text": "CMP-06"}


@check("Bad completion requests are refused", rows=("CMP-04", "CMP-06"))
def judge(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("completion"):
        what = probe.info.get("what")
        row = ROWS.get(what) if isinstance(what, str) else None
        for answer in probe.answers if row is not None else ():
            refused = answer.shape is Shape.ERROR
            yield observe(
                row or "",
                refused if row == "CMP-06" else answer.code == INVALID_PARAMS,
                probe,
                expected=f"error {INVALID_PARAMS}: {what}",
                observed=answer,
            )
