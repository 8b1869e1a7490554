"""A schema in a dialect that nobody knows is no reason to break down."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import AFTER, calls_of, is_over
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

FOREIGN = "foreign_dialect"


@check("An unknown dialect is no reason to break down", rows=("JS-03",))
def judge(trace: Trace) -> Iterator[Observation]:
    """Who does not call a tool with such a schema at all has said enough."""
    listed = [one for one in trace.inquiries("tools/list") if one.answer is not None][:1]
    after = calls_of(trace, AFTER)[:1]
    if listed and (after or is_over(trace)):
        expected = "the client to go on, with an error for this tool or without"
        observed = "the client did not go on"
        yield observe("JS-03", bool(after), *listed, *after, expected=expected, observed=observed)
