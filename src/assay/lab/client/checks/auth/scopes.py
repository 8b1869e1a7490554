"""The client asks for the scopes that it was told to ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.lab.client.authorization.journey import Journey, Stop, before, content
from assay.lab.harness.check import check
from assay.lab.harness.trace.challenge import Challenge
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.harness.verdict import Observation, observe

NO_RELATION, AUTHORITY, CHOICE, UNION, STEP_UP = "AU-16", "AU-17", "AU-18", "AU-19", "AU-74"
SPECIAL: Final = frozenset({"openid", "offline_access"})
"""What a client may ask for by itself."""


@check(
    "Scopes are those of the challenge, else of the metadata",
    rows=(NO_RELATION, AUTHORITY, CHOICE, UNION, STEP_UP),
    transports=HTTP_ONLY,
)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    for stop in journey.authorizations:
        told = [one for call, one in journey.challenged if call.request.n < stop.n]
        if told:
            yield from _asked(journey, stop, told[-1])
    yield from _stepped_up(journey)


def _asked(journey: Journey, stop: Stop, challenge: Challenge) -> Iterator[Observation]:
    wanted, asked, supported = {*challenge.scopes}, {*stop.scopes}, _supported(journey, stop)
    observed = f"scope {stop.said.get('scope')!r}"
    if wanted:
        expected = f"all of {sorted(wanted)}, which the challenge names"
        yield observe(AUTHORITY, wanted <= asked, stop, expected=expected, observed=observed)
        if supported and not wanted <= supported:
            yield observe(NO_RELATION, wanted <= asked, stop, expected=expected, observed=observed)
    earlier = _earlier(journey, stop)
    right = wanted or supported
    holds = right <= asked <= right | earlier | SPECIAL
    yield observe(CHOICE, holds, stop, expected=f"the scopes {sorted(right)}", observed=observed)
    if earlier:
        expected = f"the earlier scopes {sorted(earlier)} as well"
        yield observe(UNION, earlier <= asked, stop, expected=expected, observed=observed)


def _supported(journey: Journey, stop: Stop) -> set[str]:
    """Scopes that the client had read of in the metadata of the resource."""
    read = [content(call) for call in before(journey.resource_documents, stop.n) if call.status == 200]
    named = read[-1].get("scopes_supported") if read else None
    return {one for one in named if isinstance(one, str)} if isinstance(named, list) else set()


def _earlier(journey: Journey, stop: Stop) -> set[str]:
    """Scopes that it had asked the same server for."""
    asked = (one for one in journey.authorizations if one.n < stop.n and one.spot == stop.spot)
    return {scope for one in asked for scope in one.scopes}


def _stepped_up(journey: Journey) -> Iterator[Observation]:
    for call, challenge in journey.challenged:
        wanted = {*challenge.scopes}
        if call.status != 403 or challenge.params.get("error") != "insufficient_scope" or not wanted:
            continue
        earlier = [one for one in journey.authorizations if one.n < call.request.n]
        if wanted <= {scope for one in earlier for scope in one.scopes}:
            continue  # asking for the same again would be no help
        later = [one for one in journey.authorizations if one.n > call.request.n]
        holds = any(wanted <= {*one.scopes} for one in later)
        expected = f"an authorization with {sorted(wanted)}, which was missing"
        observed = "none" if not later else f"scope {later[0].said.get('scope')!r}"
        yield observe(STEP_UP, holds, call, *later[:1], expected=expected, observed=observed)
