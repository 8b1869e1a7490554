"""Results that may be kept say for how long and by whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.retrying import wants_input
from assay.lab.suite.self_description import is_of


@check("Results that may be cached say how", rows=("CA-01", "CA-03"), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges(*trace.revision.cacheable):
        result = exchange.result
        if result is None or wants_input(exchange) or not is_of(exchange, trace.revision):
            continue
        ttl, scope = result.get("ttlMs"), result.get("cacheScope")
        hinted = _is_whole(ttl) and scope in ("public", "private")
        expected = "`ttlMs` in whole milliseconds, and `cacheScope` public or private"
        yield observe("CA-01", hinted, exchange, expected=expected, observed=f"{ttl!r} and {scope!r}")
        if isinstance(ttl, int):
            yield observe("CA-03", ttl >= 0, exchange, expected="`ttlMs` of 0 or more", observed=ttl)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
