"""A tool's failure is a result that a model can read, not an error of the protocol."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.answered import answered
from assay.lab.everything.content import blocks_problem, text_problem
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "tools-call-error"


@official_check(ROW, "A tool tells of its failure", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "tools/call", name="test_error_handling"):
        problem = _problem(exchange)
        expected = "a result with `isError: true` and a text that says what went wrong"
        yield observe(ROW, problem is None, exchange, expected=expected, observed=problem)


def _problem(exchange: Exchange) -> str | None:
    if exchange.result is None:
        return str(exchange)
    if exchange.result.get("isError") is not True:
        return f"isError is {exchange.result.get('isError')!r}"
    return blocks_problem(exchange.objects("content")[:1], {"text": text_problem})
