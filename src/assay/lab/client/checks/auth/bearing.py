"""The token is in the header of every request, nowhere else, and it is one of the server's own."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.client.authorization.journey import Journey, bearer, query_of
from assay.lab.harness.check import check
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

EVERY, NO_QUERY, OWN = "AU-61", "AU-62", "AU-68"


@check("The token is shown in the header of every request", rows=(EVERY, NO_QUERY, OWN), transports=HTTP_ONLY)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    given = min((stop.n for stop in journey.tokens.values()), default=None)
    if given is not None:
        yield from _shown([call for call in journey.visits if call.request.n > given], journey)
    for call in journey.visits:
        if token := bearer(call):
            expected = "a token that this server's authorization server gave out"
            yield observe(OWN, token in journey.tokens, call, expected=expected, observed=f"{token[:12]}…")


def _shown(later: list[Call], journey: Journey) -> Iterator[Observation]:
    """Requests after the first token was given. One that was under way then need not have it: what counts
    begins with the first that shows it."""
    first = next((number for number, call in enumerate(later) if bearer(call)), 0)
    for call in later[first:]:
        shown = call.sent.get("authorization")
        expected = "a header Authorization: Bearer, with the token"
        yield observe(EVERY, bool(bearer(call)), call, expected=expected, observed=(shown or "none")[:20])
    for call in later:
        query = query_of(call)
        holds = "access_token" not in query and not any(one in journey.tokens for one in query.values())
        expected = "no token in the address"
        yield observe(NO_QUERY, holds, call, expected=expected, observed=f"parameters {sorted(query)}")
