"""A subscription begins with what the server agrees to send."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.lab.harness.check import check
from assay.lab.harness.trace.declaration import declaration
from assay.lab.harness.trace.message import Message
from assay.lab.harness.trace.trace import NOT_HEARD, Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.listening import ACKNOWLEDGED
from assay.lab.suite.self_description import as_object
from assay.lab.suite.subscription import Subscription, subscriptions


@check("A subscription is acknowledged first", rows=("SUB-02", "SUB-03", "SUB-04"))
def judge(trace: Trace) -> Iterator[Observation]:
    for found in subscriptions(trace):
        acknowledgement = found.acknowledgement
        if acknowledgement is None:
            yield from _unacknowledged(found, trace)
            continue
        first = found.messages[0]
        for row in ("SUB-02", "SUB-03"):
            holds = first is acknowledgement
            yield observe(row, holds, found, first, expected="the acknowledgement first", observed=first)
        problem = _excess(acknowledgement, found, trace)
        expected = "what was asked for and is supported, nothing else"
        yield observe("SUB-04", problem is None, found, acknowledgement, expected=expected, observed=problem)


def _unacknowledged(found: Subscription, trace: Trace) -> Iterator[Observation]:
    """Only where something else came instead, or the driver waited for it: an error is another matter."""
    waited = any(mark.info.get("method") == ACKNOWLEDGED for mark in trace.marks(NOT_HEARD))
    instead = found.messages[0] if found.messages else found.exchange.answer
    if (instead is None and waited) or (instead is not None and not instead.error):
        observed = instead or "nothing at all"
        yield observe("SUB-02", False, found, expected=ACKNOWLEDGED, observed=observed)


def _excess(acknowledgement: Message, found: Subscription, trace: Trace) -> str | None:
    declared = declaration(trace)
    for wish, granted in as_object(acknowledgement.params.get("notifications")).items():
        if granted in (False, None, []):
            continue
        if not _is_within(granted, found.wishes.get(wish)):
            return f"`{wish}`: {granted!r}, which was not asked for"
        area = "resources" if wish == "resourceSubscriptions" else wish.removesuffix("ListChanged")
        if declared is not None and area != wish and area not in declared.capabilities:
            return f"`{wish}`, though `{area}` is not declared"
    return None


def _is_within(granted: Any, asked: Any) -> bool:
    if isinstance(granted, list):
        return isinstance(asked, list) and all(one in asked for one in granted)
    return asked is True
