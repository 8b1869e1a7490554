"""A resource that does not exist is refused, by name; only where others can be read."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.self_description import as_object
from assay.model.error import INVALID_PARAMS

NOWHERE = "nonexistent"
"""In the address of what does not exist."""
EMPTY, CODE, URI = "sep-2164-no-empty-contents", "sep-2164-error-code", "sep-2164-data-uri"


@official_check(
    "sep-2164-resource-not-found", "A resource that does not exist is refused", rows=(EMPTY, CODE, URI)
)
def judge(trace: Trace) -> Iterator[Observation]:
    asked = [one for one in trace.exchanges("resources/list", "resources/read") if one.answer is not None]
    others = [one for one in asked if not _is_nowhere(one)]
    # Who can read nothing at all refuses for another reason.
    works = bool(others) and all(one.result is not None for one in others)
    for exchange in filter(_is_nowhere, asked):
        empty = exchange.result is not None and exchange.items("contents") == []
        if works or empty:
            yield observe(EMPTY, not empty, exchange, expected="an error", observed=exchange)
        if works:
            yield from _refusal(exchange)


def _refusal(exchange: Exchange) -> Iterator[Observation]:
    expected = f"error {INVALID_PARAMS}"
    yield observe(CODE, exchange.code == INVALID_PARAMS, exchange, expected=expected, observed=exchange)
    uri = exchange.params.get("uri")
    error = exchange.answer.error if exchange.answer is not None else {}
    named = as_object(error.get("data")).get("uri")
    expected = f"an error whose `data.uri` is {uri}"
    yield observe(URI, named == uri, exchange, expected=expected, observed=f"{exchange}; {named!r}")


def _is_nowhere(exchange: Exchange) -> bool:
    return NOWHERE in str(exchange.params.get("uri"))
