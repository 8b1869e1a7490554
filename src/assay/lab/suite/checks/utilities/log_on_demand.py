"""Where requests ask for log messages, only they get them: their level, on their stream, in time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness.check import check
from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY, SUBSCRIPTION_KEY
from assay.lab.harness.trace.log_level import LEVELS, severity
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.order import open_requests
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

LOG = "notifications/message"
LISTEN = "subscriptions/listen"


@check("Log messages go where they were asked for", rows=("LOG-05", "LOG-06", "LOG-07"), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    if not trace.revision.logs_on_demand:
        return
    logs = [message for message in trace.received if message.method == LOG]
    for message in logs:
        yield from _log(message, trace)
    for exchange in trace.exchanges("tools/call", "prompts/get", "resources/read"):
        if exchange.answer is not None and _wanted(exchange) is None:
            heard = [one for one in logs if exchange in open_requests(one, trace)]
            # With another request open, nothing says whose message it is.
            if not heard:
                yield observe("LOG-05", True, exchange, expected="no log messages", observed="none")


def _log(message: Message, trace: Trace) -> Iterator[Observation]:
    running = open_requests(message, trace)
    listening = [one for one in running if one.method == LISTEN]
    if listening and (len(listening) == len(running) == 1 or SUBSCRIPTION_KEY in _meta(message)):
        where = "a log message on the response stream of the request that wants it"
        yield observe("LOG-07", False, message, *listening, expected=where, observed="on a listen stream")
        return
    asking = [one for one in running if one.method != LISTEN]
    wanted = [_wanted(one) for one in asking]
    levels = [level for level in map(severity, wanted) if level is not None]
    if not asking:
        expected = "log messages before the final response"
        yield observe("LOG-06", False, message, expected=expected, observed="one after it")
    elif not any(level is not None for level in wanted):
        expected = "no log message for a request that does not ask for any"
        yield observe("LOG-05", False, message, *asking, expected=expected, observed=message)
    elif levels:
        level = severity(message.params.get("level"))
        expected = f"nothing below {LEVELS[min(levels)]}"
        enough = level is None or level >= min(levels)
        observed = f"a message of level {message.params.get('level')}"
        yield observe("LOG-06", enough, message, *asking, expected=expected, observed=observed)
        yield observe("LOG-07", True, message, *asking, expected="the stream of its request", observed="it")


def _wanted(exchange: Exchange) -> Any:
    meta = exchange.params.get("_meta")
    return meta.get(LOG_LEVEL_KEY) if isinstance(meta, dict) else None


def _meta(message: Message) -> dict[str, Any]:
    meta = message.params.get("_meta")
    return meta if isinstance(meta, dict) else {}
