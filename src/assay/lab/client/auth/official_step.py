"""The official checks that all authorization scenarios share: steps to a token, PKCE, use of tokens."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Final

from assay.lab.client.evidence import fail_unobserved
from assay.lab.harness import Observation, Trace, observe
from assay.lab.harness.verdict import Evidence

from .flow import AuthRequest, Flow, bearer, path_in, path_of

PRM, SERVER_METADATA = "prm-pathbased-requested", "authorization-server-metadata"
REGISTRATION, AUTHORIZATION, TOKEN = "client-registration", "authorization-request", "token-request"
CHALLENGE, METHOD = "pkce-code-challenge-sent", "pkce-s256-method-used"
VERIFIER, MATCH = "pkce-code-verifier-sent", "pkce-verifier-matches-challenge"
VALID, INVALID = "valid-bearer-token", "invalid-bearer-token"
APPLICATION: Final = "sep-837-application-type-present"
SHARED: Final = {
    PRM: "The client did not request the metadata of the resource",
    SERVER_METADATA: "The client did not request the metadata of the authorization server",
    REGISTRATION: "The client did not register",
    AUTHORIZATION: "The client did not request authorization",
    TOKEN: "The client did not request a token",
    CHALLENGE: "An authorization request has no `code_challenge`",
    METHOD: "An authorization request does not use the PKCE method S256",
    VERIFIER: "A token request has no `code_verifier`",
    MATCH: "The `code_verifier` does not match the `code_challenge`",
    VALID: "The client did not use its token at the endpoint",
    INVALID: "The client sent a token that the authorization server did not issue",
    APPLICATION: "A registration has no valid `application_type`",
}
"""The requirements that every check of these scenarios cites, with the fault of each."""
ALL_STEPS: Final = (SERVER_METADATA, REGISTRATION, AUTHORIZATION, TOKEN)
"""The steps of a client that discovers the authorization server and registers there."""
_EXPECTED: Final = {
    PRM: "a request for the metadata of the resource, at its URL",
    SERVER_METADATA: "a request for the metadata of the authorization server, at its URL",
    REGISTRATION: "a request to the registration endpoint",
    AUTHORIZATION: "a request to the authorization endpoint",
    TOKEN: "a request to the token endpoint",
}


def observe_steps(
    trace: Trace,
    own: Iterable[Observation] = (),
    *,
    steps: Iterable[str] = (),
    expected: Mapping[str, str] | None = None,
) -> Iterator[Observation]:
    """The observations about the shared requirements and the scenario's own.

    The requirements in `steps` and `expected` fail without an observation; `expected` says what is missing.
    """
    missing = {step: _EXPECTED[step] for step in steps} | dict(expected or {})
    yield from fail_unobserved(trace, [*_shared(Flow(trace)), *own], missing)


def _shared(flow: Flow) -> Iterator[Observation]:
    yield from _steps(flow)
    yield from _pkce(flow)
    yield from _tokens(flow)
    for request in flow.registrations:
        kind = request.params.get("application_type")
        expected = "application_type native or web"
        yield observe(APPLICATION, kind in ("native", "web"), request, expected=expected, observed=repr(kind))


def _steps(flow: Flow) -> Iterator[Observation]:
    metadata = {path_of(server.metadata) for server in flow.servers if server.metadata}
    documents = {(server.name, path_of(url)) for server in flow.servers for url in server.documents}
    evidence: Mapping[str, Iterable[Evidence]] = {
        PRM: [call for call in flow.resource_documents if path_in(call) in metadata],
        SERVER_METADATA: [
            call for call in flow.server_documents if (call.request.connection, path_in(call)) in documents
        ],
        REGISTRATION: flow.registrations,
        AUTHORIZATION: flow.authorizations,
        TOKEN: flow.token_requests,
    }
    for step, calls in evidence.items():
        for call in calls:
            yield observe(step, True, call, expected="", observed="")


def _pkce(flow: Flow) -> Iterator[Observation]:
    for request in flow.authorizations:
        challenge, method = (request.params.get(f"code_challenge{end}") for end in ("", "_method"))
        yield observe(CHALLENGE, bool(challenge), request, expected="a code_challenge", observed="none")
        yield observe(METHOD, method == "S256", request, expected="the method S256", observed=repr(method))
    for request in flow.token_requests:
        if request.params.get("grant_type") == "authorization_code":
            yield from _verifier(flow, request)


def _verifier(flow: Flow, request: AuthRequest) -> Iterator[Observation]:
    verifier = request.params.get("code_verifier") or ""
    yield observe(VERIFIER, bool(verifier), request, expected="a code_verifier", observed="none")
    authorization = authorization_of(flow, request)
    challenge = "" if authorization is None else authorization.params.get("code_challenge") or ""
    yield observe(
        MATCH,
        bool(verifier) and challenge_of(verifier) == challenge,
        *([] if authorization is None else [authorization]),
        request,
        expected=f"a verifier whose SHA-256 is the challenge {challenge!r}",
        observed=f"{challenge_of(verifier)!r}" if verifier else "no verifier",
    )


def authorization_of(flow: Flow, request: AuthRequest) -> AuthRequest | None:
    """The authorization request that returned the code of a token request.

    Without such a code, it is the last one at that server before the token request.
    """
    name, code = request.server.name, request.params.get("code")
    earlier = [past for past in flow.authorizations if past.n < request.n and past.server.name == name]
    same = [past for past in earlier if code is not None and past.redirect.get("code") == code]
    return (same or earlier)[-1] if earlier else None


def challenge_of(verifier: str) -> str:
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _tokens(flow: Flow) -> Iterator[Observation]:
    issued = min((request.n for request in flow.tokens.values()), default=None)
    later = [] if issued is None else [call for call in flow.endpoint_calls if call.request.n > issued]
    if later:
        valid = [call for call in later if bearer(call) in flow.tokens]
        expected = "a later request to the endpoint with an issued token"
        yield observe(VALID, bool(valid), *(valid or later)[:1], expected=expected, observed="none")
    for call in flow.endpoint_calls:
        if token := bearer(call):
            known = token in flow.tokens
            expected = "a token that the authorization server issued"
            yield observe(INVALID, known, call, expected=expected, observed=f"{token[:12]}…")
