"""DPoP-bound tokens and nonces."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

import jwt

from assay.authority.dpop import PRIVATE_MEMBERS, same_address
from assay.authority.keys import UNREADABLE, base64url, thumbprint
from assay.authority.settings import Lifetimes
from assay.lab.client.declaration import official_scenario
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Json, Observation, Request, Trace, observe
from assay.lab.harness.sabotage.client_saboteur import on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_server.client_script import ClientScript
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.challenge import challenges
from assay.lab.harness.trace.trace import Call

from .altered_request import ENDPOINT, TOKEN, goes_to
from .credential import read_jwt
from .flow import Journey, bearer
from .official_step import SHARED, walked
from .protected_server import CODE, FOUND, TWO, Protection, Refusal, Visitor, protect

BRIEF: Final = ClientScript(steps=TWO, oauth={**CODE, "dpop": True})
WINDOW: Final = 300.0
"""Seconds that a proof may be made before or after it is seen."""
SETTINGS: Final[Json] = {
    "lifetimes": Lifetimes(proof=WINDOW),
    "metadata": {"dpop_signing_alg_values_supported": ["ES256"]},
}


async def protect_bound(stage: ClientStage, *, nonce: bool) -> None:
    """With a nonce, authority and resource each want one of their own in every proof."""
    settings = {**SETTINGS, "dpop_nonce": nonce}
    protected = await protect(stage, Protection(settings=settings, scheme="DPoP"))
    wanted = secrets.token_urlsafe(16) if nonce else None
    seen: set[str] = set()

    def guard(visitor: Visitor) -> Refusal | None:
        if visitor.claims is None or visitor.scheme != SCHEME:
            return protected.unknown()
        asked = visitor.asked
        try:
            claims = proved(asked.head.all("dpop"), visitor.token, asked.method, stage.url, time.time())
        except Unproved:
            return protected.challenge(401, "invalid_dpop_proof")
        if wanted is not None and claims.get("nonce") != wanted:
            refusal = protected.challenge(401, WANTS_NONCE)
            return Refusal(refusal.status, refusal.challenge, refusal.scheme, ((NONCE, wanted),))
        if claims["jti"] in seen:
            return protected.challenge(401, "invalid_dpop_proof")
        seen.add(claims["jti"])
        return None

    protected.guard = guard


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


SCHEME: Final = "dpop"
NONCE: Final = "dpop-nonce"
WANTS_NONCE: Final = "use_dpop_nonce"
TYPE: Final = "dpop+jwt"
ASYMMETRIC: Final = ("ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA")
REGISTERED: Final = ("aud", "exp", "iat", "iss", "jti", "nbf", "sub")
"""Claims that the library would judge by its own rules."""


class Unproved(Exception):
    """Says what is wrong with a proof."""


def proved(
    proofs: Sequence[str], token: str, method: str, url: str, moment: float | None = None
) -> dict[str, Any]:
    """The claims of the proof that a request with this token has. The moment is when it was seen, in seconds
    since 1970; none where nobody knows.

    Raises:
        Unproved: there is no proof, or it is not good for this request and this token.
    """
    if len(proofs) != 1:
        raise Unproved("no proof" if not proofs else "more than one proof")
    jwk, claims = _opened(proofs[0])
    _made_for(claims, method, url, moment)
    if claims.get("ath") != base64url(hashlib.sha256(token.encode()).digest()):
        raise Unproved("ath is not the hash of the token")
    if read_jwt(token).claims.get("cnf") != {"jkt": thumbprint(jwk)}:
        raise Unproved("the token is not bound to the key of the proof")
    return claims


def _opened(proof: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The key in a proof, and the claims that this key has signed."""
    try:
        header = jwt.get_unverified_header(proof)
        jwk, algorithm = header.get("jwk"), header.get("alg")
        if header.get("typ") != TYPE:
            raise Unproved(f"typ {header.get('typ')!r}, not {TYPE}")
        if algorithm not in ASYMMETRIC:
            raise Unproved(f"alg {algorithm!r}, which is not asymmetric")
        if not isinstance(jwk, dict) or PRIVATE_MEMBERS & jwk.keys():
            raise Unproved("the header does not have the public key, and that alone")
        unasked: Any = dict.fromkeys((f"verify_{name}" for name in REGISTERED), False)
        thumbprint(jwk)
        claims = jwt.decode(
            proof, jwt.PyJWK(jwk, algorithm=algorithm), algorithms=[algorithm], options=unasked
        )
    except UNREADABLE as error:
        raise Unproved(f"not a JWT that its key has signed: {type(error).__name__}") from None
    return jwk, claims


def _made_for(claims: dict[str, Any], method: str, url: str, moment: float | None) -> None:
    if claims.get("htm") != method:
        raise Unproved(f"htm {claims.get('htm')!r}, not {method}")
    if not same_address(claims.get("htu"), url):
        raise Unproved(f"htu {claims.get('htu')!r}, not {url}")
    if not isinstance(claims.get("jti"), str) or not claims["jti"]:
        raise Unproved("no jti")
    issued = claims.get("iat")
    if isinstance(issued, bool) or not isinstance(issued, int | float):
        raise Unproved("no iat")
    # So that NaN is refused, and no number is too great.
    if moment is not None and not moment - WINDOW <= issued <= moment + WINDOW:
        raise Unproved(f"iat is more than {WINDOW:g} s from when it was sent")


# --- what is asked


@official_scenario("auth/dpop", "Tokens that are bound to a key", script=BRIEF, window=FOUND)
async def drive_dpop(stage: ClientStage) -> None:
    await protect_bound(stage, nonce=False)


@official_scenario("auth/dpop-nonce", "Proofs with a nonce", script=BRIEF, window=FOUND)
async def drive_dpop_nonce(stage: ClientStage) -> None:
    await protect_bound(stage, nonce=True)


# --- how it is judged


@official_check("auth/dpop", "Tokens that are bound to a key", requirements=(*PROVED, *SHARED))
def judge_dpop(trace: Trace) -> Iterator[Observation]:
    yield from walked(trace, bound(Journey(trace)), wanted=OWED)


@official_check(
    "auth/dpop-nonce", "Proofs with a nonce", requirements=(*PROVED, AT_SERVER, AT_RESOURCE, *SHARED)
)
def judge_dpop_nonce(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    yield from walked(trace, [*bound(journey), *nonces(journey)], wanted={**OWED, **OWED_NONCES})


# --- what the checks must catch


@on_request(
    "it shows a bound token as if anybody might",
    breaks="sep-1932-client-dpop-auth-scheme",
    scenario="auth/dpop",
)
def bound_token_as_bearer(request: Request, client: ScriptedClient) -> Request | None:
    shown = request.header("authorization") or ""
    if goes_to(request, ENDPOINT) and shown:
        request.set("Authorization", shown.replace("DPoP", "Bearer", 1))
    return request


@on_request(
    "it shows a bound token without a proof", breaks="sep-1932-client-fresh-proof", scenario="auth/dpop"
)
def no_proof_beside_token(request: Request, client: ScriptedClient) -> Request | None:
    if goes_to(request, ENDPOINT):
        request.set("DPoP", None)
    return request


@on_request(
    "it sends the same proof with every request", breaks="sep-1932-client-fresh-proof", scenario="auth/dpop"
)
def one_proof_for_all(request: Request, client: ScriptedClient) -> Request | None:
    if goes_to(request, ENDPOINT) and (proof := request.header("dpop")) is not None:
        request.set("DPoP", client.memory.setdefault("proof", proof))
    return request


@on_request(
    "it sends the proof of its token request to the server, too",
    breaks="sep-1932-client-fresh-proof",
    scenario="auth/dpop",
)
def proof_of_token_request(request: Request, client: ScriptedClient) -> Request | None:
    proof = request.header("dpop")
    if goes_to(request, TOKEN):
        client.memory["proof"] = proof
    elif proof is not None:
        request.set("DPoP", client.memory["proof"])
    return request


@on_request(
    "it asks for a token without proving a key",
    breaks="sep-1932-client-token-request-proof",
    scenario="auth/dpop",
)
def no_key_proved(request: Request, client: ScriptedClient) -> Request | None:
    if goes_to(request, TOKEN):
        request.set("DPoP", None)
    return request


@on_request(
    "it does not ask again with the nonce of the authorization server",
    breaks="sep-1932-client-as-nonce",
    scenario="auth/dpop-nonce",
)
def nonce_of_server_ignored(request: Request, client: ScriptedClient) -> Request | None:
    nonce = read_jwt(request.header("dpop")).claims.get("nonce")
    return None if goes_to(request, TOKEN) and nonce is not None else request


@on_request(
    "it does not ask again with the nonce of the resource",
    breaks="sep-1932-client-rs-nonce",
    scenario="auth/dpop-nonce",
)
def nonce_of_resource_ignored(request: Request, client: ScriptedClient) -> Request | None:
    nonce = read_jwt(request.header("dpop")).claims.get("nonce")
    return None if goes_to(request, ENDPOINT) and nonce is not None else request
