"""Lists without end."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import AFTER, calls_of, is_over
from assay.lab.client.fixtures.endless import MOST, MOST_SAME, SAME
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROUND, ON = "HOSTILE-10", "HOSTILE-11"


@check("No list is read for ever", rows=(ROUND, ON))
def judge(trace: Trace) -> Iterator[Observation]:
    pages = list(trace.inquiries("tools/list"))
    if not pages or not (calls_of(trace, AFTER) or is_over(trace)):
        return
    again = [one for one in pages if one.params.get("cursor") == SAME]
    same = any((one.result or {}).get("nextCursor") == SAME for one in pages)
    row, read, most = (ROUND, again, MOST_SAME) if same else (ON, pages, MOST)
    expected, observed = f"an end before {most} pages", f"{len(read)} pages were read"
    yield observe(row, len(read) < most, *pages[-2:], expected=expected, observed=observed)
