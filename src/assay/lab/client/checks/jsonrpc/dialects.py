"""Schemas are read in the dialect that they name, or in the usual one."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import AFTER, went_on
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

USUAL, NAMED = "usual_dialect", "named_dialect"


@check("Schemas are read in their dialect", rows=("JS-01", "JS-02"))
def judge(trace: Trace) -> Iterator[Observation]:
    expected = "a result to be taken that fits its schema in the dialect of the schema"
    yield from went_on("JS-01", trace, USUAL, expected, then=NAMED)
    yield from went_on("JS-02", trace, NAMED, expected, then=AFTER)
