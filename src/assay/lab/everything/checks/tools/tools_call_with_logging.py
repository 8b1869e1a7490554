"""A tool's log messages reach a client that wants them all."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.answered import answered
from assay.lab.everything.declaring import official_check
from assay.lab.harness.log_level import severity
from assay.lab.harness.message import Message
from assay.lab.harness.trace import NOT_HEARD, Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

ROW = "tools-call-with-logging"
LOGGED = "notifications/message"
ENOUGH = 3


@official_check(ROW, "A tool logs while it works", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    waited = any(mark.info.get("method") == LOGGED for mark in trace.marks(NOT_HEARD))
    for exchange in answered(trace, "tools/call", name="test_tool_with_logging"):
        heard = [one for one in trace.received if _belongs(one, exchange)]
        if exchange.result is None:
            yield observe(ROW, False, exchange, expected="a result", observed=exchange)
        elif len(heard) >= ENOUGH or waited:
            yield observe(
                ROW,
                len(heard) >= ENOUGH,
                exchange,
                *heard,
                expected=f"at least {ENOUGH} log messages with a level and data",
                observed=f"{len(heard)} of them",
            )


def _belongs(message: Message, exchange: Exchange) -> bool:
    asked, said = exchange.request.frame, message.frame
    during = said.connection == asked.connection and said.n > asked.n
    sound = severity(message.params.get("level")) is not None and "data" in message.params
    return during and message.method == LOGGED and sound
