"""What a resource holds comes as text or in Base64, each part with its URI."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR

# Codes that blame the client for something that it did not do, or that mean nothing.
MISPLACED: Final = frozenset({PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, 0})


@check("Contents of resources are complete", rows=("RS-19", "RS-11"))
def judge(trace: Trace) -> Iterator[Observation]:
    listed = {
        item.get("uri")
        for page in trace.exchanges("resources/list")
        for item in page.objects("resources")
        if isinstance(item.get("uri"), str)
    }
    for exchange in trace.exchanges("resources/read"):
        uri = exchange.params.get("uri")
        if exchange.result is not None and exchange.result.get("resultType", "complete") == "complete":
            problem = _problem(exchange)
            expected = "a list of contents, each with its uri and either text or blob"
            yield observe("RS-19", problem is None, exchange, expected=expected, observed=problem)
        elif isinstance(uri, str) and uri in listed and isinstance(exchange.code, int):
            # A listed resource that cannot be read: something went wrong inside.
            holds = exchange.code not in MISPLACED
            yield observe("RS-11", holds, exchange, expected="error -32603", observed=exchange)


def _problem(exchange: Exchange) -> str | None:
    contents = (exchange.result or {}).get("contents")
    if not isinstance(contents, list):
        return f"`contents` is {type(contents).__name__}"
    return next((told for item in contents if (told := _wrong(item))), None)


def _wrong(item: Any) -> str | None:
    if not isinstance(item, dict):
        return f"an item of `contents` is {type(item).__name__}"
    if not isinstance(item.get("uri"), str):
        return "an item of `contents` has no `uri`"
    held = [key for key in ("text", "blob") if isinstance(item.get(key), str)]
    return (
        None
        if len(held) == 1
        else f"an item of `contents` has {' and '.join(held) or 'neither text nor blob'}"
    )
