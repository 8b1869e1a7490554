"""A request that lacks what it must say of itself is refused, whatever was said before it."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.self_description import is_of, missing, reply_to, told
from assay.model.error import HEADER_MISMATCH, INVALID_PARAMS


@check("A request that lacks version or capabilities is refused", rows=("META-08", "BASE-27"))
def judge(trace: Trace) -> Iterator[Observation]:
    introduced: set[str] = set()
    for exchange in trace.exchanges():
        connection = exchange.request.frame.connection
        lacking = missing(exchange, trace.revision)
        reply = reply_to(exchange, trace)
        if lacking and (reply is not None or exchange.head is not None):
            yield observe(
                "META-08",
                _is_refused(exchange, reply, lacking),
                exchange,
                expected=f"error {INVALID_PARAMS} (HTTP 400) for a request without {lacking[0]}",
                observed=told(exchange, reply),
            )
            if connection in introduced:
                expected = f"an error: an earlier request with {lacking[0]} does not stand in"
                yield observe(
                    "BASE-27", exchange.result is None, exchange, expected=expected, observed=exchange
                )
        elif is_of(exchange, trace.revision) and exchange.result is not None:
            introduced.add(connection)


def _is_refused(exchange: Exchange, reply: Message | None, lacking: list[str]) -> bool:
    code = None if reply is None else reply.code
    if exchange.head is None:
        return code == INVALID_PARAMS
    # The header says a version and the body does not: that is a mismatch as well, and no order is given.
    differs = VERSION_KEY in lacking and code == HEADER_MISMATCH
    return (code == INVALID_PARAMS or differs) and exchange.head.status == 400
