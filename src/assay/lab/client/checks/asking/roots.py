"""The roots that a client tells."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.questions import ROOTS, questions
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "RT-03"


@check("Roots are files", rows=(ROW,), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for one in questions(trace, ROOTS):
        roots = (one.result or {}).get("roots")
        for root in roots if isinstance(roots, list) else ():
            uri = root.get("uri") if isinstance(root, dict) else None
            holds = isinstance(uri, str) and uri.startswith("file://")
            yield observe(ROW, holds, one, expected="a URI that begins with file://", observed=f"{uri!r}")
