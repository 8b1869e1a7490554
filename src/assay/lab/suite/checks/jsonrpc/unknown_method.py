"""A method that a server does not have is answered with its own error, and on HTTP with its own status."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import METHOD_NOT_FOUND
from assay.revisions.registry import REVISIONS

KNOWN = frozenset[str]().union(*(revision.requests for revision in REVISIONS))
# Where a server describes itself on request, a method goes with the capability that it belongs to.
GATED = {"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources"}


@check("An unknown method gets -32601", rows=("BASE-26", "HTTP-52"))
def judge(trace: Trace) -> Iterator[Observation]:
    declared = _declared(trace)
    for exchange in trace.exchanges():
        gated = declared is not None and GATED.get(exchange.method, "") not in {"", *declared}
        if (gated or exchange.method not in KNOWN) and exchange.answer is not None:
            yield observe(
                "BASE-26",
                exchange.code == METHOD_NOT_FOUND,
                exchange,
                expected=f"error {METHOD_NOT_FOUND}",
                observed=exchange,
            )
            # What it answers although it does not advertise it, it does implement.
            if not gated or exchange.result is None:
                yield from _status(exchange)


def _declared(trace: Trace) -> dict[str, Any] | None:
    """The capabilities that the server advertises in this trace; none where it does not say."""
    results = (one.result for one in trace.exchanges("server/discover") if one.result is not None)
    found = (result.get("capabilities") for result in results)
    return next((one for one in found if isinstance(one, dict)), None)


def _status(exchange: Exchange) -> Iterator[Observation]:
    if exchange.head is not None:
        expected = f"HTTP 404 with error {METHOD_NOT_FOUND}"
        yield observe("HTTP-52", exchange.head.status == 404, exchange, expected=expected, observed=exchange)
