"""DPoP: tokens bound to a key, proofs and nonces."""

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
from assay.lab.harness.trace.authorization import challenges
from assay.lab.harness.trace.trace import Call

from .altered_request import ENDPOINT, TOKEN, is_to
from .flow import Flow, bearer, read_jwt
from .official_step import SHARED, observe_steps
from .protected_server import (
    CODE_GRANT,
    STEPS,
    WITH_DISCOVERY,
    GuardedRequest,
    Protection,
    Rejection,
    protect,
)

WINDOW: Final = 300.0
"""Seconds by which `iat` of a proof may differ from the time of the request."""
SCHEME: Final = "dpop"
NONCE: Final = "dpop-nonce"
USE_NONCE: Final = "use_dpop_nonce"
TYPE: Final = "dpop+jwt"
ASYMMETRIC: Final = ("ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA")
REGISTERED: Final = ("aud", "exp", "iat", "iss", "jti", "nbf", "sub")
"""Claims that the library must not validate, since RFC 9449 has its own rules."""


class InvalidProof(Exception):
    """What is wrong with a proof."""


def verify_proof(
    proofs: Sequence[str], token: str, method: str, url: str, moment: float | None = None
) -> dict[str, Any]:
    """The claims of the proof in a request with this token.

    `moment` is the time of the request in seconds since 1970, if known.

    Raises:
        InvalidProof: there is no proof, or it is not valid for this request and this token.
    """
    if len(proofs) != 1:
        raise InvalidProof("no proof" if not proofs else "more than one proof")
    jwk, claims = _verify_signature(proofs[0])
    _verify_claims(claims, method, url, moment)
    if claims.get("ath") != base64url(hashlib.sha256(token.encode()).digest()):
        raise InvalidProof("ath is not the hash of the token")
    if read_jwt(token).claims.get("cnf") != {"jkt": thumbprint(jwk)}:
        raise InvalidProof("the token is not bound to the key of the proof")
    return claims


def _verify_signature(proof: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The key in a proof, and the claims that are signed with it."""
    try:
        header = jwt.get_unverified_header(proof)
        jwk, algorithm = header.get("jwk"), header.get("alg")
        if header.get("typ") != TYPE:
            raise InvalidProof(f"typ {header.get('typ')!r}, not {TYPE}")
        if algorithm not in ASYMMETRIC:
            raise InvalidProof(f"alg {algorithm!r}, which is not asymmetric")
        if not isinstance(jwk, dict) or PRIVATE_MEMBERS & jwk.keys():
            raise InvalidProof("the header does not contain exactly the public key")
        options: Any = dict.fromkeys((f"verify_{name}" for name in REGISTERED), False)
        thumbprint(jwk)
        key = jwt.PyJWK(jwk, algorithm=algorithm)
        claims = jwt.decode(proof, key, algorithms=[algorithm], options=options)
    except UNREADABLE as error:
        raise InvalidProof(f"not a JWT signed with its key: {type(error).__name__}") from None
    return jwk, claims


def _verify_claims(claims: dict[str, Any], method: str, url: str, moment: float | None) -> None:
    if claims.get("htm") != method:
        raise InvalidProof(f"htm {claims.get('htm')!r}, not {method}")
    if not same_address(claims.get("htu"), url):
        raise InvalidProof(f"htu {claims.get('htu')!r}, not {url}")
    if not isinstance(claims.get("jti"), str) or not claims["jti"]:
        raise InvalidProof("no jti")
    issued = claims.get("iat")
    if isinstance(issued, bool) or not isinstance(issued, int | float):
        raise InvalidProof("no iat")
    # A chained comparison, which is false for NaN.
    if moment is not None and not moment - WINDOW <= issued <= moment + WINDOW:
        raise InvalidProof(f"iat differs from the time of the request by more than {WINDOW:g} s")


# --- what is asked


SCRIPT: Final = ClientScript(steps=STEPS, oauth={**CODE_GRANT, "dpop": True})
SETTINGS: Final[Json] = {
    "lifetimes": Lifetimes(proof=WINDOW),
    "metadata": {"dpop_signing_alg_values_supported": ["ES256"]},
}


@official_scenario("auth/dpop", "Issue tokens that are bound to a key", script=SCRIPT, window=WITH_DISCOVERY)
async def drive_dpop(stage: ClientStage) -> None:
    await _protect_with_dpop(stage, nonce=False)


@official_scenario("auth/dpop-nonce", "Require a nonce in every proof", script=SCRIPT, window=WITH_DISCOVERY)
async def drive_dpop_nonce(stage: ClientStage) -> None:
    await _protect_with_dpop(stage, nonce=True)


async def _protect_with_dpop(stage: ClientStage, *, nonce: bool) -> None:
    """With `nonce`, the authority and the resource each require their own nonce."""
    settings = {**SETTINGS, "dpop_nonce": nonce}
    protected = await protect(stage, Protection(settings=settings, scheme="DPoP"))
    required = secrets.token_urlsafe(16) if nonce else None
    used: set[str] = set()

    def guard(request: GuardedRequest) -> Rejection | None:
        if request.claims is None or request.scheme != SCHEME:
            return protected.unauthorized()
        http = request.http
        try:
            claims = verify_proof(http.head.all("dpop"), request.token, http.method, stage.url, time.time())
        except InvalidProof:
            return protected.challenge(401, "invalid_dpop_proof")
        if required is not None and claims.get("nonce") != required:
            rejection = protected.challenge(401, USE_NONCE)
            return Rejection(rejection.status, rejection.challenge, rejection.scheme, ((NONCE, required),))
        if claims["jti"] in used:
            return protected.challenge(401, "invalid_dpop_proof")
        used.add(claims["jti"])
        return None

    protected.guard = guard


# --- how it is judged


TOKEN_PROOF: Final = "sep-1932-client-token-request-proof"
AUTH_SCHEME: Final = "sep-1932-client-dpop-auth-scheme"
FRESH_PROOF: Final = "sep-1932-client-fresh-proof"
SERVER_NONCE, RESOURCE_NONCE = "sep-1932-client-as-nonce", "sep-1932-client-rs-nonce"
PROOF_FAULTS: Final = {
    TOKEN_PROOF: "A token request has no valid DPoP proof",
    AUTH_SCHEME: "A bound token was not sent with the scheme DPoP",
    FRESH_PROOF: "A request with a bound token has no new, valid proof",
}
EXPECTED: Final = {
    TOKEN_PROOF: "a token request with a proof of the client's key",
    AUTH_SCHEME: "a request to the endpoint with a token and the scheme DPoP",
    FRESH_PROOF: "a request to the endpoint with a token and a proof",
}
EXPECTED_NONCES: Final = {
    SERVER_NONCE: "a token request without a nonce, then one with the required nonce",
    RESOURCE_NONCE: "a request to the endpoint without a nonce, then one with the required nonce",
}


@official_check("auth/dpop", "Tokens are bound to the client's key", requirements={**PROOF_FAULTS, **SHARED})
def judge_dpop(trace: Trace) -> Iterator[Observation]:
    yield from observe_steps(trace, _proofs(Flow(trace)), expected=EXPECTED)


@official_check(
    "auth/dpop-nonce",
    "Proofs contain the required nonce",
    requirements={
        **PROOF_FAULTS,
        SERVER_NONCE: "The client did not retry with the nonce of the authorization server",
        RESOURCE_NONCE: "The client did not retry with the nonce of the resource",
        **SHARED,
    },
)
def judge_dpop_nonce(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    yield from observe_steps(
        trace, [*_proofs(flow), *_nonces(flow)], expected={**EXPECTED, **EXPECTED_NONCES}
    )


def _proofs(flow: Flow) -> Iterator[Observation]:
    for request in flow.token_requests:
        # The authority verifies each proof; one that only lacks a nonce shows nothing yet.
        if request.answer.get("error") != USE_NONCE:
            status, answer = request.call.status, request.answer
            holds = status == 200 and answer.get("token_type") == "DPoP"
            rejected = f"rejected: {answer.get('error_description', status)}"
            observed = "no proof, and thus a token that is not bound" if status == 200 else rejected
            yield observe(TOKEN_PROOF, holds, request, expected=EXPECTED[TOKEN_PROOF], observed=observed)
    for call in flow.endpoint_calls:
        scheme = (call.sent.get("authorization") or "").partition(" ")[0]
        if scheme:
            holds = scheme.lower() == SCHEME
            yield observe(AUTH_SCHEME, holds, call, expected="the scheme DPoP", observed=scheme)
    yield from _fresh_proofs(flow)


def _fresh_proofs(flow: Flow) -> Iterator[Observation]:
    used: set[str] = set()
    for call in flow.endpoint_calls:
        if token := bearer(call):
            try:
                identifier = _proof_claims(flow, call, token)["jti"]
                problem = "a jti that was used before" if identifier in used else ""
                used.add(identifier)
            except InvalidProof as error:
                problem = str(error)
            expected = "one new proof for this request and this token"
            yield observe(FRESH_PROOF, not problem, call, expected=expected, observed=problem)


def _proof_claims(flow: Flow, call: Call, token: str) -> dict[str, Any]:
    url = next(server.url for server in flow.servers)
    return verify_proof(call.sent.all("dpop"), token, call.sent.method, url, _moment(flow.trace, call))


def _moment(trace: Trace, call: Call) -> float | None:
    try:
        return datetime.fromisoformat(trace.header.started).timestamp() + call.request.t
    except ValueError:
        return None


def _nonces(flow: Flow) -> Iterator[Observation]:
    """Whether the client retried with the nonce that the authority and the resource required."""
    requests = flow.token_requests
    rejected = [request.call for request in requests if request.answer.get("error") == USE_NONCE]
    yield from _retries(SERVER_NONCE, rejected, [request.call for request in requests])
    rejected = [call for call in flow.endpoint_calls if _requires_nonce(call)]
    yield from _retries(RESOURCE_NONCE, rejected, flow.endpoint_calls)


def _requires_nonce(call: Call) -> bool:
    return any(challenge.params.get("error") == USE_NONCE for challenge in challenges(call.head))


def _retries(requirement: str, rejected: list[Call], calls: list[Call]) -> Iterator[Observation]:
    for first in rejected[:1]:
        nonce = None if first.head is None else first.head.get(NONCE)
        later = [call for call in calls if call.request.n > first.request.n]
        good = [call for call in later if _nonce(call.sent.get("dpop")) == nonce and 0 < call.status < 400]
        evidence = (first, *(good or later)[:1])
        expected = f"another request, with the nonce {nonce}"
        observed = "no successful request with it" if later else "no further request"
        yield observe(requirement, bool(good), *evidence, expected=expected, observed=observed)


def _nonce(proof: object) -> object:
    return read_jwt(proof).claims.get("nonce")


# --- what the checks must catch


@on_request("sends a bound token as a bearer token", breaks=AUTH_SCHEME, scenario="auth/dpop")
def bound_token_as_bearer(request: Request, client: ScriptedClient) -> Request | None:
    header = request.header("authorization") or ""
    if is_to(request, ENDPOINT) and header:
        request.set("Authorization", header.replace("DPoP", "Bearer", 1))
    return request


@on_request("sends a bound token without a proof", breaks=FRESH_PROOF, scenario="auth/dpop")
def no_proof_beside_token(request: Request, client: ScriptedClient) -> Request | None:
    if is_to(request, ENDPOINT):
        request.set("DPoP", None)
    return request


@on_request("sends the same proof with every request", breaks=FRESH_PROOF, scenario="auth/dpop")
def one_proof_for_all(request: Request, client: ScriptedClient) -> Request | None:
    if is_to(request, ENDPOINT) and (proof := request.header("dpop")) is not None:
        request.set("DPoP", client.memory.setdefault("proof", proof))
    return request


@on_request("sends the proof of its token request to the endpoint", breaks=FRESH_PROOF, scenario="auth/dpop")
def proof_of_token_request(request: Request, client: ScriptedClient) -> Request | None:
    proof = request.header("dpop")
    if is_to(request, TOKEN):
        client.memory["proof"] = proof
    elif proof is not None:
        request.set("DPoP", client.memory["proof"])
    return request


@on_request("requests a token without a proof", breaks=TOKEN_PROOF, scenario="auth/dpop")
def no_key_proved(request: Request, client: ScriptedClient) -> Request | None:
    if is_to(request, TOKEN):
        request.set("DPoP", None)
    return request


@on_request(
    "does not retry with the nonce of the authorization server",
    breaks=SERVER_NONCE,
    scenario="auth/dpop-nonce",
)
def nonce_of_server_ignored(request: Request, client: ScriptedClient) -> Request | None:
    return None if is_to(request, TOKEN) and _nonce(request.header("dpop")) is not None else request


@on_request(
    "does not retry with the nonce of the resource", breaks=RESOURCE_NONCE, scenario="auth/dpop-nonce"
)
def nonce_of_resource_ignored(request: Request, client: ScriptedClient) -> Request | None:
    return None if is_to(request, ENDPOINT) and _nonce(request.header("dpop")) is not None else request
