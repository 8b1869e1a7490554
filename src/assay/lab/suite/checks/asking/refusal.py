"""A user who declines or cancels is no fault of the server, and none in it."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.driver.question import ELICIT, rounds_of
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import INTERNAL_ERROR


@check("Users may decline and cancel", rows=("EL-24",))
def judge(trace: Trace) -> Iterator[Observation]:
    for one in rounds_of(trace, ELICIT):
        if one.answer.get("action") in ("decline", "cancel"):
            yield observe(
                "EL-24",
                one.outcome.code != INTERNAL_ERROR,
                one,
                expected=f"an answer that takes {one.answer['action']} into account",
                observed=one.outcome,
            )
