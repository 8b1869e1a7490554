"""A client that acts for itself signs who it is, and for whom it says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.client.authorization.journey import Journey, Stop
from assay.lab.client.authorization.machine import GRANT, GRANT_ROW, OWED, grant_types, read_jwt
from assay.lab.client.authorization.official_auth import SHARED, walked
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe

TYPE_ROW, VERIFIED = "client-credentials-assertion-type", "client-credentials-jwt-verified"
NAMED: Final = {"iss": "client-credentials-jwt-iss", "sub": "client-credentials-jwt-sub"}
TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
WANTED: Final = (
    "an assertion, signed with the client's key, for the issuer, which the authorization server takes"
)


@official_check(
    "auth/client-credentials-jwt",
    "A client that acts for itself, with a key",
    rows=(GRANT_ROW, TYPE_ROW, *NAMED.values(), VERIFIED, *SHARED),
)
def judge(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    stops = [stop for stop in journey.exchanges if stop.said.get("grant_type") == GRANT]
    own = [*grant_types(journey), *(one for stop in stops for one in _signed(journey, stop))]
    yield from walked(trace, own, wanted={**OWED, VERIFIED: WANTED})


def _signed(journey: Journey, stop: Stop) -> Iterator[Observation]:
    kind, name = stop.said.get("client_assertion_type"), journey.context.get("client_id")
    yield observe(TYPE_ROW, kind == TYPE, stop, expected=TYPE, observed=repr(kind))
    claims = read_jwt(stop.said.get("client_assertion")).claims
    for claim, row in NAMED.items():
        if claims:
            said = claims.get(claim)
            yield observe(row, said == name, stop, expected=f"{claim} {name}", observed=f"{claim} {said}")
    problem = _problem(claims, stop)
    yield observe(VERIFIED, not problem, stop, expected=WANTED, observed=problem)


def _problem(claims: dict[str, Any], stop: Stop) -> str:
    """Why the assertion is not good. Signature and times are for the authority to judge: it has the key."""
    if not claims:
        return "no assertion that is a JWT"
    named, issuer = claims.get("aud"), stop.spot.issuer
    audience = named if isinstance(named, list) else [named]
    if not {issuer, f"{issuer}/"} & {one for one in audience if isinstance(one, str)}:
        return f"aud {named!r}, not {issuer}"
    refused = stop.call.status != 200
    return f"refused: {stop.told.get('error_description', stop.call.status)}" if refused else ""
