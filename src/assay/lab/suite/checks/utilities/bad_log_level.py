"""A level that does not exist is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness.check import check
from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY
from assay.lab.harness.trace.log_level import severity
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.model.error import INVALID_PARAMS


@check("A log level that does not exist gets -32602", rows=("LOG-03",))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        asked = _level(exchange, trace)
        if asked is not None and severity(asked) is None and exchange.answer is not None:
            yield observe(
                "LOG-03",
                exchange.code == INVALID_PARAMS,
                exchange,
                expected=f"error {INVALID_PARAMS} for level {asked!r}",
                observed=exchange,
            )


def _level(exchange: Exchange, trace: Trace) -> Any:
    if not trace.revision.logs_on_demand:
        return exchange.params.get("level") if exchange.method == "logging/setLevel" else None
    meta = exchange.params.get("_meta")
    return meta.get(LOG_LEVEL_KEY) if isinstance(meta, dict) else None
