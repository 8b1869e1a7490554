"""A method that no revision has is answered with its own error, and on HTTP with its own status."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import METHOD_NOT_FOUND
from assay.revisions.registry import REVISIONS

KNOWN = frozenset[str]().union(*(revision.requests for revision in REVISIONS))


@check("An unknown method gets -32601", rows=("BASE-26", "HTTP-52"))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.method not in KNOWN and exchange.answer is not None:
            yield observe(
                "BASE-26",
                exchange.code == METHOD_NOT_FOUND,
                exchange,
                expected=f"error {METHOD_NOT_FOUND}",
                observed=exchange,
            )
            yield from _status(exchange)


def _status(exchange: Exchange) -> Iterator[Observation]:
    if exchange.head is not None:
        expected = f"HTTP 404 with error {METHOD_NOT_FOUND}"
        yield observe("HTTP-52", exchange.head.status == 404, exchange, expected=expected, observed=exchange)
