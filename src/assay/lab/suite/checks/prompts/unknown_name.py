"""A prompt that is not there is refused with the code for it."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.prompt_get import listed_prompts
from assay.model.error import INVALID_PARAMS


@check("A prompt that does not exist is refused with -32602", rows=("PR-09",))
def judge(trace: Trace) -> Iterator[Observation]:
    listed = listed_prompts(trace)
    read = any(one.result is not None for one in trace.exchanges("prompts/list"))
    for exchange in trace.exchanges("prompts/get"):
        name = exchange.params.get("name")
        if read and exchange.answer is not None and isinstance(name, str) and name not in listed:
            yield observe(
                "PR-09",
                exchange.code == INVALID_PARAMS,
                exchange,
                expected=f"error {INVALID_PARAMS}",
                observed=exchange,
            )
