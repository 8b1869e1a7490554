"""Changes of roots."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import FIRST, is_over
from assay.lab.harness.check import check
from assay.lab.harness.scripted_server.client_run import SETTING
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "RT-02"
CHANGED = "notifications/roots/list_changed"


@check("A change of roots is announced", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    told = [one for one in trace.received if one.method == CHANGED]
    for exchange in trace.inquiries(FIRST):
        capabilities = exchange.params.get("capabilities")
        roots = capabilities.get("roots") if isinstance(capabilities, dict) else None
        promised = isinstance(roots, dict) and roots.get("listChanged") is True
        if promised and _was_asked_to_change(trace) and (told or is_over(trace)):
            yield observe(ROW, bool(told), exchange.request, *told, expected=CHANGED, observed="no word")


def _was_asked_to_change(trace: Trace) -> bool:
    """Whether the steps of the scenario change the roots, and the client got past them."""
    steps = [step for mark in trace.marks(SETTING) for step in mark.info.get("context", {}).get("steps", ())]
    return any(step.get("do") == "change_roots" for step in steps) and any(trace.inquiries("tools/call"))
