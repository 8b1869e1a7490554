"""Progress is told step by step under the token of the request, goes forward, and ends with the answer."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.answered import answered
from assay.lab.everything.borrowed import borrow
from assay.lab.everything.declaring import official_check
from assay.lab.harness.message import Message, same_id
from assay.lab.harness.trace import NOT_HEARD, Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.checks.utilities import progress_tokens, progress_values
from assay.lab.suite.streamed import PROGRESS, token_of

ROW = "tools-call-with-progress"
ENOUGH = 3


@official_check(ROW, "A tool reports its progress", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    waited = any(mark.info.get("method") == PROGRESS for mark in trace.marks(NOT_HEARD))
    for exchange in answered(trace, "tools/call", name="test_tool_with_progress"):
        told = [one for one in trace.received if _belongs(one, exchange)]
        if exchange.result is None:
            yield observe(ROW, False, exchange, expected="a result", observed=exchange)
        elif len(told) >= ENOUGH or waited:
            yield observe(
                ROW,
                len(told) >= ENOUGH,
                exchange,
                *told,
                expected=f"at least {ENOUGH} reports under the token {token_of(exchange.request)!r}",
                observed=f"{len(told)} of them",
            )
    yield from borrow(trace, ROW, progress_values.judge, "PRG-03")
    yield from borrow(trace, ROW, progress_tokens.judge, "PRG-04", "PRG-05")


def _belongs(message: Message, exchange: Exchange) -> bool:
    here = message.frame.connection == exchange.request.frame.connection
    token = message.params.get("progressToken")
    return here and message.method == PROGRESS and same_id(token, token_of(exchange.request))
