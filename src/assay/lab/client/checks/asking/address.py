"""Addresses that a server wants to be opened."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import visits
from assay.lab.client.questions import CANARY, FORM, questions
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

EARLY, UNWANTED = "EL-33", "EL-34"


@check("An address is not visited before its user agrees", rows=(EARLY, UNWANTED))
def judge(trace: Trace) -> Iterator[Observation]:
    for one in questions(trace, FORM):
        declined = (one.result or {}).get("action") in ("decline", "cancel")
        if one.params.get("mode") != "url" or one.answered is None or not declined:
            continue
        moment = one.answered.frame.n
        came = visits(trace, CANARY)
        before = [call for call in came if call.request.n < moment]
        after = [call for call in came if call.request.n > moment]
        expected = "nobody at the address that was declined"
        observed = f"{len(came)} requests"
        yield observe(EARLY, not before, one, *before[:1], expected=expected, observed=observed)
        yield observe(UNWANTED, not after, one, *after[:1], expected=expected, observed=observed)
