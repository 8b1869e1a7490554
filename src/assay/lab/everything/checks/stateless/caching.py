"""Lists and resources say for how long and by whom they may be kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe

ROWS = {
    "tools/list": "sep-2549-tools-list-caching-hints",
    "prompts/list": "sep-2549-prompts-list-caching-hints",
    "resources/list": "sep-2549-resources-list-caching-hints",
    "resources/templates/list": "sep-2549-resources-templates-list-caching-hints",
    "resources/read": "sep-2549-resources-read-caching-hints",
}
TTL, SCOPE, ANSWERED = (
    "sep-2549-ttl-non-negative",
    "sep-2549-cache-scope-valid",
    "sep-2549-caching-connection",
)


@official_check("caching", "Results that may be kept say how", rows=(*ROWS.values(), TTL, SCOPE, ANSWERED))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges(*ROWS):
        if exchange.answer is not None:
            served = exchange.result is not None
            yield observe(ANSWERED, served, exchange, expected="a result", observed=exchange)
            yield from _hints(exchange)


def _hints(exchange: Exchange) -> Iterator[Observation]:
    result = exchange.result or {}
    absent = [key for key in ("ttlMs", "cacheScope") if key not in result]
    expected = "a result with `ttlMs` and `cacheScope`"
    observed = f"{exchange}; no {', '.join(absent)}"
    yield observe(ROWS[exchange.method], not absent, exchange, expected=expected, observed=observed)
    if "ttlMs" in result:
        ttl = result["ttlMs"]
        expected = "a whole number of 0 or more"
        yield observe(TTL, _is_count(ttl), exchange, expected=expected, observed=repr(ttl))
    if "cacheScope" in result:
        scope = result["cacheScope"]
        holds = scope in ("public", "private")
        yield observe(SCOPE, holds, exchange, expected="public or private", observed=repr(scope))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
