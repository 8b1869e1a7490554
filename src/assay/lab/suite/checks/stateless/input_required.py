"""Results that want input first: where they may come, and what may be in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness.check import check
from assay.lab.harness.driver.question import ASKED_DURING
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.duplicate import keys_twice
from assay.lab.suite.retrying import NEEDED, wants_input
from assay.lab.suite.self_description import as_object, capabilities_of

ROWS: Final = ("MR-02", "MR-03", "MR-04", "MR-05", "MR-06", "META-09", "CA-02")


@check("Results that want input are in order", rows=ROWS, everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.result is not None:
            fits = exchange.method in ASKED_DURING or not wants_input(exchange)
            yield observe("MR-02", fits, exchange, expected="no question here", observed=exchange)
    for exchange in filter(wants_input, trace.exchanges()):
        yield from _result(exchange)
        for key, asked in as_object((exchange.result or {}).get("inputRequests")).items():
            yield from _question(exchange, key, asked)


def _result(exchange: Exchange) -> Iterator[Observation]:
    result = exchange.result or {}
    twice = ", ".join(keys_twice(exchange.answer.body if exchange.answer else b"", "inputRequests"))
    yield observe("MR-03", not twice, exchange, expected="keys that differ", observed=f"twice: {twice}")
    some = bool(result.keys() & {"inputRequests", "requestState"})
    expected = "`inputRequests` or `requestState`"
    yield observe("MR-05", some, exchange, expected=expected, observed=exchange)
    hints = sorted(result.keys() & {"ttlMs", "cacheScope"})
    yield observe("CA-02", not hints, exchange, expected="no hints for caches", observed=", ".join(hints))


def _question(exchange: Exchange, key: str, asked: Any) -> Iterator[Observation]:
    method = as_object(asked).get("method")
    known = isinstance(method, str) and method in NEEDED
    expected = f"a request of {', '.join(NEEDED)}"
    yield observe("MR-04", known, exchange, expected=expected, observed=f"{key}: {method!r}")
    if isinstance(method, str) and method in NEEDED:
        declared = isinstance(capabilities_of(exchange).get(NEEDED[method]), dict)
        for row in ("MR-06", "META-09"):
            expected = f"no {method}: this request did not declare `{NEEDED[method]}`"
            yield observe(row, declared, exchange, expected=expected, observed=f"{key}: {method}")
