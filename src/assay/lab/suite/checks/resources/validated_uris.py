"""What is no URI is refused, whatever type it has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

HAS_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@check("What is no URI is not read", rows=("RS-12",))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges("resources/read"):
        if _is_no_uri(exchange.params.get("uri")) and (
            exchange.answer is not None or exchange.head is not None
        ):
            yield observe("RS-12", exchange.result is None, exchange, expected="an error", observed=exchange)


def _is_no_uri(value: Any) -> bool:
    return not isinstance(value, str) or HAS_SCHEME.match(value) is None
