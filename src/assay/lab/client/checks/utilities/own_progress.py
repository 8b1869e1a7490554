"""What a client tells of the progress of what it was asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness.check import check
from assay.lab.harness.trace.message import Message, same_id
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

GROWS, KNOWN, BEFORE = "PRG-03", "PRG-04", "PRG-05"


@check("Progress grows, of requests that are in progress", rows=(GROWS, KNOWN, BEFORE), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    last: dict[int, Any] = {}
    for message in trace.received:
        if message.method != "notifications/progress":
            continue
        asked = _asked(trace, message)
        expected = "the token of a request that the server sent"
        observed = f"token {message.params.get('progressToken')!r}"
        yield observe(KNOWN, asked is not None, message, expected=expected, observed=observed)
        if asked is None:
            continue
        done = asked.answer is not None and asked.answer.frame.n < message.frame.n
        expected = "no progress of a request that is answered"
        yield observe(BEFORE, not done, message, asked, expected=expected, observed="progress after that")
        yield from _grown(message, last.setdefault(id(asked), None))
        last[id(asked)] = message.params.get("progress")


def _asked(trace: Trace, message: Message) -> Exchange | None:
    token = message.params.get("progressToken")
    before = (one for one in trace.exchanges() if one.request.frame.n < message.frame.n)
    return next((one for one in before if same_id(_token(one), token)), None)


def _token(exchange: Exchange) -> Any:
    meta = exchange.params.get("_meta")
    return meta.get("progressToken") if isinstance(meta, dict) else None


def _grown(message: Message, before: Any) -> Iterator[Observation]:
    told = message.params.get("progress")
    numbers = isinstance(told, int | float) and isinstance(before, int | float)
    if numbers:
        expected, observed = f"more than {before}", str(told)
        yield observe(GROWS, told > before, message, expected=expected, observed=observed)
