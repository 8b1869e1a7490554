"""A tool's log messages reach a client that wants them all."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.everything.telling import tells_enough
from assay.lab.harness.trace.log_level import severity
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation

ROW = "tools-call-with-logging"
LOGGED = "notifications/message"


@official_check(ROW, "A tool logs while it works", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    return tells_enough(trace, ROW, "test_tool_with_logging", LOGGED, _belongs, _expected)


def _expected(exchange: Exchange) -> str:
    return "log messages with a level and data"


def _belongs(message: Message, exchange: Exchange) -> bool:
    asked, said = exchange.request.frame, message.frame
    during = said.connection == asked.connection and said.n > asked.n
    return during and severity(message.params.get("level")) is not None and "data" in message.params
