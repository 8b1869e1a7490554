"""Messages in pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.evidence import is_over
from assay.lab.client.fixtures.hostility import echoed
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "HOSTILE-08"
TITLE: Final = "Grüße, 漢字 🎉"


@check("A message in pieces is one message", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    given = list(echoed(trace))
    expected = f"the schema with the title {TITLE!r}"
    for one, title in given:
        yield observe(ROW, title == TITLE, one, expected=expected, observed=f"{title!r}")
    if not given and is_over(trace):
        for one in list(trace.inquiries("tools/list"))[:1]:
            yield observe(ROW, False, one, expected=expected, observed="the client made nothing of the list")
