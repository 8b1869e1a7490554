"""Every result says what kind it is, and is of a kind that the client knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.check import check
from assay.lab.harness.trace.declaration import declaration
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.self_description import capabilities_of, is_of

CORE: Final = frozenset({"complete", "input_required"})


@check("Results say what kind they are", rows=("BASE-17", "BASE-20", "VER-07"), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    said = declaration(trace)
    extended = said is None or said.has("extensions")
    for exchange in trace.exchanges():
        if exchange.result is None or not is_of(exchange, trace.revision):
            continue
        kind = exchange.result.get("resultType")
        named = isinstance(kind, str)
        yield observe("BASE-17", named, exchange, expected="`resultType`", observed=exchange)
        if isinstance(kind, str) and not extended:
            expected = "a core result: the server declares no extension that could add another"
            yield observe(
                "BASE-20", kind in CORE, exchange, expected=expected, observed=f"resultType {kind!r}"
            )
        if isinstance(kind, str) and not capabilities_of(exchange).get("extensions"):
            expected = "a core result, or an error: the client declared no extension"
            yield observe(
                "VER-07", kind in CORE, exchange, expected=expected, observed=f"resultType {kind!r}"
            )
