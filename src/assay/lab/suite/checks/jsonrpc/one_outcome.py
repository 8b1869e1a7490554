"""A response is a result or an error, not both and not neither."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("A response has either a result or an error", rows=("BASE-07",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.spoken:
        if message.fields and "method" not in message.fields:
            keys = sorted({"result", "error"} & message.fields.keys())
            yield observe(
                "BASE-07",
                len(keys) == 1,
                message,
                expected="exactly one of `result` and `error`",
                observed=" and ".join(keys) or "neither",
            )
