"""What a trace shows of tokens that are bound to a key: how they were asked for, and how they are shown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from assay.lab.harness.trace.challenge import challenges
from assay.lab.harness.trace.trace import Call, Trace
from assay.lab.harness.verdict import Observation, observe

from .bound_token import NONCE, SCHEME, WANTS_NONCE, Unproved, proved
from .journey import Journey, bearer
from .machine import read_jwt

ASKED, SHOWN, FRESH = (
    "sep-1932-client-token-request-proof",
    "sep-1932-client-dpop-auth-scheme",
    "sep-1932-client-fresh-proof",
)
AT_SERVER, AT_RESOURCE = "sep-1932-client-as-nonce", "sep-1932-client-rs-nonce"
PROVED: Final = (ASKED, SHOWN, FRESH)
OWED: Final = {
    ASKED: "a token request with a proof of the client's key",
    SHOWN: "a request to the endpoint with a token, under the scheme DPoP",
    FRESH: "a request to the endpoint with a token and a proof",
}
OWED_NONCES: Final = {
    AT_SERVER: "a token request, first without a nonce, then with the one that was asked for",
    AT_RESOURCE: "a request to the endpoint, first without a nonce, then with the one that was asked for",
}


def bound(journey: Journey) -> Iterator[Observation]:
    yield from _token_requests(journey)
    yield from _schemes(journey)
    yield from _proofs(journey)


def _token_requests(journey: Journey) -> Iterator[Observation]:
    """The authority has looked at each proof; one that only lacks a nonce is not yet good or bad."""
    for stop in journey.exchanges:
        told = stop.told
        if told.get("error") == WANTS_NONCE:
            continue
        refused = f"refused: {told.get('error_description', stop.call.status)}"
        holds = stop.call.status == 200 and told.get("token_type") == "DPoP"
        unbound = "no proof, and so a token that is not bound"
        observed = unbound if stop.call.status == 200 else refused
        yield observe(ASKED, holds, stop, expected=OWED[ASKED], observed=observed)


def _schemes(journey: Journey) -> Iterator[Observation]:
    for call in journey.visits:
        scheme = (call.sent.get("authorization") or "").partition(" ")[0]
        if scheme:
            yield observe(SHOWN, scheme.lower() == SCHEME, call, expected="the scheme DPoP", observed=scheme)


def _proofs(journey: Journey) -> Iterator[Observation]:
    seen: set[str] = set()
    for call in journey.visits:
        if token := bearer(call):
            problem = ""
            try:
                claims = _claims(journey, call, token)
                problem = "a jti that was used before" if claims["jti"] in seen else ""
                seen.add(claims["jti"])
            except Unproved as reason:
                problem = str(reason)
            expected = "one new proof, made for this request and this token"
            yield observe(FRESH, not problem, call, expected=expected, observed=problem)


def _claims(journey: Journey, call: Call, token: str) -> dict[str, str]:
    url = next(spot.url for spot in journey.spots)
    return proved(call.sent.all("dpop"), token, call.sent.method, url, _moment(journey.trace, call))


def _moment(trace: Trace, call: Call) -> float | None:
    try:
        return datetime.fromisoformat(trace.header.started).timestamp() + call.request.t
    except ValueError:
        return None


def nonces(journey: Journey) -> Iterator[Observation]:
    """For each place that has asked for a nonce, whether a later request there has it and gets on."""
    exchanges = [stop.call for stop in journey.exchanges]
    refused = [stop.call for stop in journey.exchanges if stop.told.get("error") == WANTS_NONCE]
    yield from _retried(AT_SERVER, refused, exchanges)
    turned_away = [call for call in journey.visits if _wants_nonce(call)]
    yield from _retried(AT_RESOURCE, turned_away, journey.visits)


def _wants_nonce(call: Call) -> bool:
    return any(one.params.get("error") == WANTS_NONCE for one in challenges(call.head))


def _retried(row: str, refused: list[Call], calls: list[Call]) -> Iterator[Observation]:
    for first in refused[:1]:
        wanted = None if first.head is None else first.head.get(NONCE)
        later = [call for call in calls if call.request.n > first.request.n]
        good = [call for call in later if _nonce(call) == wanted and 0 < call.status < 400]
        expected = f"another request, with the nonce {wanted}"
        observed = "none that has it and is served" if later else "no further request"
        yield observe(row, bool(good), first, *(good or later)[:1], expected=expected, observed=observed)


def _nonce(call: Call) -> object:
    return read_jwt(call.sent.get("dpop")).claims.get("nonce")
