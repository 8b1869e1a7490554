"""Requests that are in flight at once are each answered once, each with what was asked for."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.marketplace.declaring import profile_check
from assay.lab.marketplace.jrpc_lists import LISTS

ORDER = "CONF-JRPC-02.order"
KEYS = {one.method: one.key for one in LISTS}


@profile_check("Requests at once are told apart", rows=(ORDER,))
def judge(trace: Trace) -> Iterator[Observation]:
    for probe in trace.probes("at once"):
        sent = {one.frame.n for one in probe.sent}
        for exchange in trace.exchanges():
            if exchange.request.frame.n in sent:
                name = exchange.request.id
                expected = f"one answer with id {name!r}, to {exchange.method}"
                yield observe(
                    ORDER, _is_right(exchange), exchange, expected=expected, observed=_told(exchange)
                )


def _is_right(exchange: Exchange) -> bool:
    """Once, and with its own result: lists are told by what they hold, and others by not holding it."""
    if len(exchange.answers) != 1:
        return False
    if exchange.result is None:
        return True
    own = KEYS.get(exchange.method)
    return {own} - {None} == exchange.result.keys() & set(KEYS.values())


def _told(exchange: Exchange) -> str:
    return " and ".join(map(str, exchange.answers)) or "no answer"
