"""Nothing below `resources/` changes a resource."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check

ROW: Final = "CONF-CAP-03.resources.read-only"
WRITING: Final = tuple(f"resources/{verb}" for verb in ("write", "update", "create", "delete"))
UNKNOWN: Final = -32601


@profile_check("Resources are there to be read", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in trace.exchanges(*WRITING):
        if exchange.answer is not None:
            yield observe(
                ROW,
                exchange.code == UNKNOWN,
                exchange,
                expected=f"error {UNKNOWN}: no {exchange.method}; changes are for tools to make",
                observed=exchange,
            )
