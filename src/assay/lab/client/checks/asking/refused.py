"""What was not declared is refused."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.questions import FORM, MODEL, questions
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import INVALID_PARAMS

MODE, TOOLS = "EL-22", "SMP-04"


@check("What a client did not declare, it refuses", rows=(MODE, TOOLS), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for one in questions(trace, FORM, MODEL):
        said = one.capability if isinstance(one.capability, dict) else {}
        observed = f"error {one.code}" if one.result is None else f"a result: {one.result}"
        if one.answered is None:
            continue
        if one.method == FORM and one.params.get("mode") == "url" and "url" not in said:
            holds = one.code == INVALID_PARAMS
            yield observe(MODE, holds, one, expected=f"error {INVALID_PARAMS}", observed=observed)
        offered = "tools" in one.params or "toolChoice" in one.params
        if one.method == MODEL and offered and "tools" not in said:
            yield observe(TOOLS, one.result is None, one, expected="an error", observed=observed)
