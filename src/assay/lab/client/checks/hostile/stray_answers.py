"""Answers that answer nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.evidence import went_on
from assay.lab.client.fixtures.hostility import TAKING, echoed
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

NOBODY, TWICE, UNDETERRED = "HOSTILE-01", "HOSTILE-02", "HOSTILE-03"
TRUE: Final = "the answer"
STRAY: Final = "an answer under another id"
EARLY: Final = "an answer before its request"
AGAIN: Final = "another answer, after the first"


@check("An answer is one only under the id of its request", rows=(NOBODY, TWICE, UNDETERRED))
def judge(trace: Trace) -> Iterator[Observation]:
    for one, title in echoed(trace):
        expected, observed = "the schema of the answer", f"the schema of {title}"
        yield observe(NOBODY, title not in (STRAY, EARLY), one, expected=expected, observed=observed)
        yield observe(TWICE, title != AGAIN, one, expected=expected, observed=observed)
    yield from went_on(UNDETERRED, trace, "first", "the client to go on", then=TAKING)
