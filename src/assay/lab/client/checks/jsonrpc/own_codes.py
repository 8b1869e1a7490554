"""Codes that are an implementation's own mean nothing to others."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.evidence import AFTER, FIRST, calls_of
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

ODD = "odd_code"
OWN = range(-32019, -31999)
MEANING = ("server/discover", "tools/list", FIRST)
"""What a client asks who takes such an error for news about version, session or tools."""


@check("Codes of an implementation's own have no fixed meaning", rows=("BASE-22",))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in calls_of(trace, ODD):
        if exchange.answer is None or exchange.code not in OWN:
            continue
        since = exchange.answer.frame.n
        following = [one for one in trace.inquiries() if one.request.frame.n > since]
        until = next((one for one in following if _is_next(one.params)), None)
        if until is None:
            continue
        between = [one for one in following if one.request.frame.n < until.request.frame.n]
        moved = [one for one in between if one.method in MEANING]
        observed = ", ".join(one.method for one in moved)
        expected = f"error {exchange.code} to be an error like any other"
        yield observe("BASE-22", not moved, exchange, *moved, until, expected=expected, observed=observed)


def _is_next(params: dict[str, object]) -> bool:
    return params.get("name") in (ODD, AFTER)
