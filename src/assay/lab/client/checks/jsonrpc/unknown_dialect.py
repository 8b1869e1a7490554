"""A schema in a dialect that nobody knows is no reason to break down."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import went_on
from assay.lab.harness.check import check
from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Observation

FOREIGN = "foreign_dialect"


@check("An unknown dialect is no reason to break down", rows=("JS-03",))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from went_on("JS-03", trace, FOREIGN, "the client to go on, with an error for this call or without")
