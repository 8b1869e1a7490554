"""Who completes arguments has declared it; who does not says that the method is unknown."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.declaration import declaration
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import METHOD_NOT_FOUND


@check("Completion is declared where it is offered", rows=("CMP-01", "CMP-03"))
def judge(trace: Trace) -> Iterator[Observation]:
    declared = declaration(trace)
    for exchange in trace.exchanges("completion/complete"):
        if declared is None or exchange.answer is None:
            continue
        if declared.has("completions") or exchange.result is not None:
            yield observe(
                "CMP-01",
                declared.has("completions"),
                exchange,
                declared,
                expected="`completions` declared by a server that completes",
                observed="it is not declared",
            )
        else:
            yield observe(
                "CMP-03",
                exchange.code == METHOD_NOT_FOUND,
                exchange,
                declared,
                expected=f"error {METHOD_NOT_FOUND} from a server without `completions`",
                observed=exchange,
            )
