"""Codes of earlier revisions are not used any more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.check import check
from assay.lab.harness.driver.question import URL_REQUIRED
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.self_description import is_of
from assay.model.error import RESOURCE_NOT_FOUND

RETIRED: Final = (RESOURCE_NOT_FOUND, URL_REQUIRED)


@check("Retired error codes are not used", rows=("BASE-24",), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges():
        if exchange.code is not None and is_of(exchange, trace.revision):
            holds = exchange.code not in RETIRED
            yield observe("BASE-24", holds, exchange, expected="a code of this revision", observed=exchange)
