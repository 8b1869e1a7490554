"""Redirects of the endpoint to another origin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.evidence import AFTER, calls_of, is_over, visits
from assay.lab.client.fixtures.canary import CANARY
from assay.lab.harness.check import check
from assay.lab.harness.links.http_text import body_of
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

TOKEN, MESSAGE = "HOSTILE-12", "HOSTILE-13"
AWAY: Final = {"away_307": 307, "away_308": 308, "away_302": 302}
"""Tools, and the status of the response that leads away from them."""


@check("Nothing is carried to where a redirect leads", rows=(TOKEN, MESSAGE), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    sent = [one for name in AWAY for one in calls_of(trace, name)]
    came = visits(trace, CANARY)
    bearing = [one for one in sent if _bears(trace, one.request.frame.channel)]
    if not came and not (sent and (calls_of(trace, AFTER) or is_over(trace))):
        return
    if came or bearing:
        shown = [one for one in came if one.sent.get("authorization") is not None]
        expected = "no Authorization header at another origin"
        yield observe(TOKEN, not shown, *sent[:1], *shown[:1], expected=expected, observed="the token")
    told = [one for one in came if body_of(one.request.raw)]
    expected = "no message at another origin"
    observed = f"{len(told)} messages"
    yield observe(MESSAGE, not told, *sent[:1], *told[:1], expected=expected, observed=observed)


def _bears(trace: Trace, channel: str) -> bool:
    """Whether the request had a token that could have gone along."""
    own = (one for one in trace.calls if one.channel == channel)
    return any(one.sent.get("authorization") is not None for one in own)
