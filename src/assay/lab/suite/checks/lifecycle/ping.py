"""`ping` is answered, with an empty result."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe


@check("ping is answered with an empty result", rows=("PNG-01",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    unanswered = [mark.info.get("id") for mark in trace.marks("no answer")]
    for exchange in trace.exchanges("ping"):
        # Whether a batch is taken at all is judged as such: see `jsonrpc.batches`.
        if exchange.request.place is not None:
            continue
        # HTTP may refuse the request around it, for a header or a session: then no ping was seen.
        if exchange.head is not None and exchange.head.status >= 400:
            continue
        # A scenario may have ended before the answer: only what it waited for in vain counts.
        if exchange.answer is not None or exchange.request.id in unanswered:
            content = None if exchange.result is None else {**exchange.result, "_meta": None}
            yield observe(
                "PNG-01", content == {"_meta": None}, exchange, expected="an empty result", observed=exchange
            )
