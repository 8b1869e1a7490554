"""Progress is told step by step under the token of the request, goes forward, and ends with the answer."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.borrowed import borrow
from assay.lab.everything.declaring import official_check
from assay.lab.everything.telling import tells_enough
from assay.lab.harness.trace.message import Message, same_id
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation
from assay.lab.suite.checks.utilities import progress_tokens, progress_values
from assay.lab.suite.streamed import PROGRESS, token_of

ROW = "tools-call-with-progress"


@official_check(ROW, "A tool reports its progress", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from tells_enough(trace, ROW, "test_tool_with_progress", PROGRESS, _belongs, _expected)
    yield from borrow(trace, ROW, progress_values.judge, "PRG-03")
    yield from borrow(trace, ROW, progress_tokens.judge, "PRG-04", "PRG-05")


def _expected(exchange: Exchange) -> str:
    return f"reports under the token {token_of(exchange.request)!r}"


def _belongs(message: Message, exchange: Exchange) -> bool:
    here = message.frame.connection == exchange.request.frame.connection
    return here and same_id(message.params.get("progressToken"), token_of(exchange.request))
