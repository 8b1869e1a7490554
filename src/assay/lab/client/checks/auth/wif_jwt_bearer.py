"""A workload shows the token that it has, once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.authority.record import JWT_BEARER
from assay.lab.client.authorization.journey import Journey, Stop
from assay.lab.client.authorization.official_auth import SHARED, walked
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

GRANT, VERIFIED, MISSING = "wif-grant-type", "wif-assertion-verified", "wif-assertion-missing"
MALFORMED, AUDIENCE, EXPIRED = "wif-assertion-malformed", "wif-assertion-audience", "wif-assertion-expired"
AGAIN, OTHERWISE = "wif-no-retry", "wif-grant-fallback"
GIVEN: Final = {"valid_jwt": "", "wrong_audience_jwt": AUDIENCE, "expired_jwt": EXPIRED}
"""What the client was given, and which rule it breaks by showing it."""
WANTED: Final = "a token request with the token of the workload as its assertion"


@official_check(
    "auth/wif-jwt-bearer",
    "A workload with a token of its own",
    rows=(GRANT, VERIFIED, MISSING, MALFORMED, AUDIENCE, EXPIRED, AGAIN, OTHERWISE, *SHARED),
)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    own = [one for stop in journey.exchanges for one in _shown(journey, stop)]
    yield from walked(trace, [*own, *_retries(journey)], wanted={VERIFIED: WANTED})


def _shown(journey: Journey, stop: Stop) -> Iterator[Observation]:
    kind, assertion = stop.said.get("grant_type"), stop.said.get("assertion")
    yield observe(GRANT, kind == JWT_BEARER, stop, expected=JWT_BEARER, observed=repr(kind))
    if kind != JWT_BEARER:
        return
    yield observe(MISSING, bool(assertion), stop, expected="an assertion", observed="none")
    if not assertion:
        return
    # The key of the workload's provider is in nobody else's hands: what was not given, nobody can have made.
    names = {journey.context.get(name): name for name in GIVEN}
    broken = GIVEN[names[assertion]] if assertion in names else MALFORMED
    for row in (MALFORMED, AUDIENCE, EXPIRED):
        shown = names.get(assertion, "something else")
        yield observe(row, row != broken, stop, expected="the token in valid_jwt", observed=shown)
    if not broken:
        answer = stop.told.get("error") or stop.call.status
        taken = stop.call.status == 200 or answer in ("unauthorized_client", "invalid_scope")
        yield observe(VERIFIED, taken, stop, expected=WANTED, observed=f"refused: {answer}")


def _retries(journey: Journey) -> Iterator[Observation]:
    """Whatever follows a refusal; where nothing does, the client has kept to both rules."""
    refused = next((stop for stop in journey.exchanges if stop.call.status >= 400), None)
    if refused is None:
        return
    later = [stop for stop in journey.exchanges if stop.n > refused.n]
    same = [stop for stop in later if stop.said.get("grant_type") == JWT_BEARER]
    other = [stop for stop in later if stop not in same]
    for row, stops in ((AGAIN, same), (OTHERWISE, other)):
        observed = f"{len(stops)} more"
        expected = "no further token request of that kind"
        yield observe(row, not stops, refused, *stops[:1], expected=expected, observed=observed)
