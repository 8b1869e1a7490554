"""A result that wants input says so in `resultType`."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.everything.input_round import asking_tool, rounds
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "sep-2322-result-type-included"


@official_check("input-required-result-result-type", "A result that wants input says so", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in rounds(trace, asking_tool("elicitation")):
        kind = (exchange.result or {}).get("resultType")
        observed = f"{exchange}; `resultType` {kind!r}"
        expected = '`resultType`: "input_required"'
        yield observe(ROW, kind == "input_required", exchange, expected=expected, observed=observed)
