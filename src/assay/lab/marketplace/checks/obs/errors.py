"""Alarms are for those who run the server: what its clients do wrong is none of theirs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.obs_spans import ERROR, spanned

ROW: Final = "CONF-OBS-05.errors"
CALLERS: Final = frozenset({-32700, -32600, -32601, -32602, -32002})
"""Codes of what the client did wrong, by the conventions; of others, only -32603 says whose fault it is."""
INTERNAL: Final = -32603


@profile_check("A span has failed where the server has", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for one, span in spanned(trace):
        failed = _failed(one.exchange)
        if failed is None:
            continue
        wanted = "status ERROR and error.type" if failed else "no status ERROR"
        right = (span.status == ERROR) is failed and (not failed or "error.type" in span.attributes)
        seen = f"status {span.status}, error.type {span.attributes.get('error.type', 'absent')}"
        told = f"{seen} for {one.exchange.method}, which ended with {one.exchange}"
        yield observe(ROW, right, one, expected=wanted, observed=told)


def _failed(exchange: Exchange) -> bool | None:
    """Whether it failed by the server's fault; none where that cannot be told."""
    if exchange.result is not None:
        return exchange.result.get("isError") is True
    if exchange.code in CALLERS:
        return False
    return True if exchange.code == INTERNAL else None
