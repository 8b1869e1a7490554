"""Each authorization asks for the scope that was missing, and for those before."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.journey import Journey, Stop
from assay.lab.client.authorization.official_auth import AUTHORIZATION, SHARED, walked
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

FIRST, NEXT = "scope-step-up-initial", "scope-step-up-escalation"
UNION = "sep-2350-scope-union-on-reauth"
BASIC, WRITE = "mcp:basic", "mcp:write"
OWED = {
    FIRST: f"an authorization with the scope {BASIC}",
    NEXT: f"a second authorization, with the scope {WRITE}",
    UNION: f"a second authorization, with the scopes {BASIC} and {WRITE}",
}


@official_check("auth/scope-step-up", "Another scope for a call", rows=(FIRST, NEXT, UNION, *SHARED))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, _asked(Journey(trace)), owed=(AUTHORIZATION,), wanted=OWED)


def _asked(journey: Journey) -> Iterator[Observation]:
    yield from (_has(FIRST, BASIC, stop) for stop in journey.authorizations[:1])
    for call in [one for one in journey.visits if one.status == 403][:1]:
        later = [stop for stop in journey.authorizations if stop.n > call.request.n]
        for stop in later[:1]:
            yield _has(NEXT, WRITE, stop)
            yield _has(UNION, BASIC, stop)
        # Here silence is a failure, where asking for the wrong scope is a warning.
        wanted = "another request, once a call was refused"
        yield observe(AUTHORIZATION, bool(later), call, expected=wanted, observed="no other request")


def _has(row: str, scope: str, stop: Stop) -> Observation:
    return observe(
        row,
        scope in stop.scopes,
        stop,
        expected=f"a scope with {scope}",
        observed=f"scope {stop.said.get('scope')!r}",
    )
