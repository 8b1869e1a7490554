"""Who answers questions has said so before."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.questions import FORM, MODEL, ROOTS, questions
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROWS = {FORM: "EL-01", MODEL: "SMP-01", ROOTS: "RT-01"}
TOOLS = "SMP-02"


@check("A client declares what it answers", rows=(*ROWS.values(), TOOLS), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for one in questions(trace):
        if one.result is None:
            continue
        declared = one.capability
        expected, observed = f"a capability for {one.method}", f"declared {one.declared}"
        holds = isinstance(declared, dict)
        yield observe(ROWS[one.method], holds, one, expected=expected, observed=observed)
        # Who leaves the tools alone has not taken them: that it did not refuse is another rule's.
        if one.method == MODEL and one.uses_of_tools:
            holds = isinstance(declared, dict) and isinstance(declared.get("tools"), dict)
            yield observe(TOOLS, holds, one, expected="`sampling.tools`", observed=observed)
