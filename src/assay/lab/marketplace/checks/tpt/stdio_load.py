"""Whatever comes on standard input, however long or much of it, is answered once."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.trace.frame import Kind
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.transport import STDIO_ONLY
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check

ROW = "CONF-TPT-01.stdio.load"
LINE = 1024 * 1024


@profile_check("Long lines, and many at once", rows=(ROW,), transports=STDIO_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    over = trace.header.closed or any(trace.marks("no answer")) or _has_ended(trace)
    long = [one for one in trace.exchanges() if len(one.request.frame.raw) > LINE]
    for exchange in long[:1]:
        if exchange.answer is not None or over:
            held = exchange.answer is not None and exchange.answer.id == exchange.request.id
            yield observe(ROW, held, exchange, expected="an answer to a line of 1 MiB", observed=exchange)
    many = [one for one in trace.exchanges() if str(one.request.id).startswith("one of many")]
    if many and over:
        yield _counted(many)


def _has_ended(trace: Trace) -> bool:
    return any(frame.kind is Kind.EXIT for frame in trace.frames)


def _counted(many: list[Exchange]) -> Observation:
    wrong = [one for one in many if len(one.answers) != 1]
    lost = sum(not one.answers for one in wrong)
    observed = f"{lost} without an answer, {len(wrong) - lost} with several"
    shown = wrong[0] if wrong else many[-1]
    expected = f"one answer to each of {len(many)} lines that were sent at once"
    return observe(ROW, not wrong, shown, expected=expected, observed=observed)
