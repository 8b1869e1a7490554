"""What a server says of itself when it is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness.check import check
from assay.lab.harness.driver.message_meta import SERVER_KEY
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.self_description import as_object, is_of
from assay.model.error import METHOD_NOT_FOUND

_LABEL: Final = r"[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?"
EXTENSION: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*/([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?")


@check("server/discover says all that it must", rows=("VER-03", "VER-04", "VER-05", "VER-06"))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("server/discover"):
        if exchange.answer is None or not is_of(exchange, trace.revision):
            continue
        there = exchange.code != METHOD_NOT_FOUND
        yield observe("VER-03", there, exchange, expected="a result", observed=exchange)
        result = exchange.result
        if result is None:
            continue
        problem = _problem(result, trace.revision.date)
        expected = "versions, capabilities, ttlMs, cacheScope and resultType"
        yield observe("VER-04", problem is None, exchange, expected=expected, observed=problem)
        named = isinstance(as_object(as_object(result.get("_meta")).get(SERVER_KEY)).get("name"), str)
        yield observe("VER-05", named, exchange, expected=f"`_meta` with {SERVER_KEY}", observed="none")
        for name in as_object(as_object(result.get("capabilities")).get("extensions")):
            holds = EXTENSION.fullmatch(name) is not None
            yield observe("VER-06", holds, exchange, expected="prefix/name", observed=repr(name))


def _problem(result: dict[str, Any], version: str) -> str | None:
    versions = result.get("supportedVersions")
    if not isinstance(versions, list) or not all(isinstance(one, str) for one in versions):
        return "`supportedVersions` is no list of versions"
    if version not in versions:
        return f"`supportedVersions` lacks {version}, which it speaks"
    if not isinstance(result.get("capabilities"), dict):
        return "`capabilities` is no object"
    absent = [key for key in ("ttlMs", "cacheScope", "resultType") if key not in result]
    return f"no {', '.join(absent)}" if absent else None
