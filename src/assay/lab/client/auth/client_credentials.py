"""Grants without a user: client credentials and workload identity."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Final

from assay.authority.authority import Authority
from assay.authority.keys import base64url, new_key, public_jwk
from assay.authority.record import JWT_BEARER, Client, digest
from assay.authority.settings import Lifetimes, Settings, Trusted
from assay.lab.client.declaration import client_scenario, official_scenario
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Request, Trace, observe
from assay.lab.harness.sabotage.client_saboteur import ClientSaboteur, misbehaving, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import StepFailed
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, optional
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import TOKEN, altered, alters, is_to, parameters, with_claims
from .flow import BASIC, AuthRequest, Flow, credentials, method_of, read_jwt
from .official_step import SHARED, observe_steps
from .protected_server import STEPS, WITH_DISCOVERY, Protection, protect

# --- what is asked


CREDENTIALS: Final = "client_credentials"
NAME: Final = "conformance-test-client"
SECRET: Final = "conformance-test-secret"
SCRIPT: Final = ClientScript(steps=STEPS, oauth={"grant": CREDENTIALS})


def _settings(method: str, **client: Any) -> dict[str, Any]:
    """Settings of an authority that knows only this client."""
    known = Client(id=NAME, methods=(method,), grants=(CREDENTIALS,), **client)
    return {
        "grants": (CREDENTIALS,),
        "methods": (method,),
        "registration": False,
        "clients": (known,),
        "metadata": {"grant_types_supported": [CREDENTIALS]},
    }


@official_scenario(
    "auth/client-credentials-basic",
    "Get a token as a client with a secret",
    script=SCRIPT,
    window=WITH_DISCOVERY,
    aliases=("auth/client-credentials",),
)
async def drive_client_credentials_basic(stage: ClientStage) -> None:
    await protect(stage, Protection(settings=_settings("client_secret_basic", secret=digest(SECRET))))
    stage.context |= {"client_id": NAME, "client_secret": SECRET}


ALGORITHM: Final = "ES256"
LIFETIMES: Final = Lifetimes(assertion=86_400.0)
"""Long, since a client may choose the lifetime of its assertion."""


@official_scenario(
    "auth/client-credentials-jwt",
    "Get a token as a client with a key",
    script=SCRIPT,
    window=WITH_DISCOVERY,
    aliases=("auth/client-credentials",),
)
async def drive_client_credentials_jwt(stage: ClientStage) -> None:
    key = new_key(ALGORITHM)
    settings = _settings("private_key_jwt", jwks={"keys": [public_jwk(ALGORITHM, key.private)]})
    await protect(stage, Protection(settings={**settings, "lifetimes": LIFETIMES}))
    stage.context |= {"client_id": NAME, "private_key_pem": key.private_pem(), "signing_algorithm": ALGORITHM}


WORKLOAD_OAUTH: Final = {"grant": "jwt_bearer"}
WORKLOAD: Final = "conformance-wif-workload"
WORKLOAD_SUBJECT: Final = "conformance-workload"
PROVIDER: Final = "https://idp.conformance-test.local"
"""The issuer of the workload's token, which is never contacted."""
UNAUTHORIZED: Final = "wif.trigger-unauthorized"
REFUSED_SCOPES: Final = {UNAUTHORIZED: "unauthorized_client", "wif.rejected": "invalid_scope"}
"""Scopes that no workload gets, with the error for each."""


@official_scenario(
    "auth/wif-jwt-bearer",
    "Get a token as a workload with a JWT",
    script=ClientScript(steps=STEPS, oauth=WORKLOAD_OAUTH),
    window=WITH_DISCOVERY,
)
async def drive_wif_jwt_bearer(stage: ClientStage) -> None:
    await _protect_for_workload(stage)


@client_scenario(
    "Reject the token request of a workload",
    script=ClientScript(steps=(optional(LIST_TOOLS),), oauth=WORKLOAD_OAUTH, may_fail=True),
    exercises=("auth/wif-jwt-bearer",),
    transports=HTTP_ONLY,
    window=WITH_DISCOVERY,
)
async def drive_workload_refused(stage: ClientStage) -> None:
    await _protect_for_workload(stage, UNAUTHORIZED)


async def _protect_for_workload(stage: ClientStage, scope: str = "") -> None:
    """Protect the endpoint; the challenge names this scope."""
    provider = Authority(Settings(issuer=PROVIDER))
    settings = {
        "grants": (JWT_BEARER,),
        "registration": False,
        "clients": (Client(id=WORKLOAD, grants=(JWT_BEARER,)),),
        "trusted": (Trusted(issuer=PROVIDER, jwks=provider.jwks(), client_id=WORKLOAD),),
        "refused_scopes": REFUSED_SCOPES,
        "metadata": {"grant_types_supported": [JWT_BEARER]},
    }
    protected = await protect(stage, Protection(settings=settings, scope=scope))
    (issuer,) = protected.issuers
    stage.context |= {
        "client_id": WORKLOAD,
        "valid_jwt": _workload_token(provider, audience=issuer),
        "wrong_audience_jwt": _workload_token(provider, audience="https://wrong.example"),
        "expired_jwt": _workload_token(provider, audience=issuer, fault="expired-token"),
    }


def _workload_token(provider: Authority, **options: Any) -> str:
    claims = {"client_id": None, "scope": None}
    return provider.mint(WORKLOAD_SUBJECT, header={"typ": "JWT"}, claims=claims, **options)


# --- how it is judged


GRANT_TYPE: Final = "client-credentials-grant-type"
CREDENTIAL_FAULTS: Final = {GRANT_TYPE: f"A token request does not use the grant type {CREDENTIALS}"}
EXPECTED_GRANT: Final = {GRANT_TYPE: f"a token request with the grant type {CREDENTIALS}"}


def _grant_types(flow: Flow) -> Iterator[Observation]:
    for request in flow.token_requests:
        kind, expected = request.params.get("grant_type"), f"grant_type {CREDENTIALS}"
        yield observe(GRANT_TYPE, kind == CREDENTIALS, request, expected=expected, observed=repr(kind))


BASIC_AUTH: Final = "client-credentials-basic-auth"
EXPECTED_BASIC: Final = "a token request with the client's id and secret, by HTTP Basic"


@official_check(
    "auth/client-credentials-basic",
    "The client authenticates with its secret",
    requirements={
        **CREDENTIAL_FAULTS,
        BASIC_AUTH: "A token request does not authenticate with the client's secret by HTTP Basic",
        **SHARED,
    },
)
def judge_client_credentials_basic(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    own = [*_grant_types(flow), *_basic_credentials(flow)]
    yield from observe_steps(trace, own, expected={**EXPECTED_GRANT, BASIC_AUTH: EXPECTED_BASIC})


def _basic_credentials(flow: Flow) -> Iterator[Observation]:
    own = tuple(flow.context.get(key) for key in ("client_id", "client_secret"))
    for request in flow.token_requests:
        if request.params.get("grant_type") == CREDENTIALS:
            method = method_of(request)
            holds = method == BASIC and credentials(request) == own
            observed = method if method != BASIC else "another id or secret"
            yield observe(BASIC_AUTH, holds, request, expected=EXPECTED_BASIC, observed=observed)


ASSERTION_TYPE, VERIFIED = "client-credentials-assertion-type", "client-credentials-jwt-verified"
CLAIMS: Final = {"iss": "client-credentials-jwt-iss", "sub": "client-credentials-jwt-sub"}
JWT_TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
EXPECTED_JWT: Final = "an assertion for the issuer, signed with the client's key, that the server accepts"


@official_check(
    "auth/client-credentials-jwt",
    "The client authenticates with its key",
    requirements={
        **CREDENTIAL_FAULTS,
        ASSERTION_TYPE: "A token request has a wrong `client_assertion_type`",
        CLAIMS["iss"]: "The assertion's `iss` is not the client id",
        CLAIMS["sub"]: "The assertion's `sub` is not the client id",
        VERIFIED: "The client's assertion is missing or invalid",
        **SHARED,
    },
)
def judge_client_credentials_jwt(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    own = list(_grant_types(flow))
    for request in flow.token_requests:
        if request.params.get("grant_type") == CREDENTIALS:
            own += _client_assertion(flow, request)
    yield from observe_steps(trace, own, expected={**EXPECTED_GRANT, VERIFIED: EXPECTED_JWT})


def _client_assertion(flow: Flow, request: AuthRequest) -> Iterator[Observation]:
    kind, name = request.params.get("client_assertion_type"), flow.context.get("client_id")
    yield observe(ASSERTION_TYPE, kind == JWT_TYPE, request, expected=JWT_TYPE, observed=repr(kind))
    claims = read_jwt(request.params.get("client_assertion")).claims
    for claim, requirement in CLAIMS.items():
        if claims:
            value = claims.get(claim)
            expected, observed = f"{claim} {name}", f"{claim} {value}"
            yield observe(requirement, value == name, request, expected=expected, observed=observed)
    problem = _assertion_problem(claims, request)
    yield observe(VERIFIED, not problem, request, expected=EXPECTED_JWT, observed=problem)


def _assertion_problem(claims: dict[str, Any], request: AuthRequest) -> str:
    """Why the assertion is invalid. The authority, which has the key, judges its signature and times."""
    if not claims:
        return "no assertion that is a JWT"
    claim, issuer = claims.get("aud"), request.server.issuer
    audience = claim if isinstance(claim, list) else [claim]
    if not {issuer, f"{issuer}/"} & {value for value in audience if isinstance(value, str)}:
        return f"aud {claim!r}, not {issuer}"
    status = request.call.status
    return "" if status == 200 else f"rejected: {request.answer.get('error_description', status)}"


WORKLOAD_GRANT, ACCEPTED, MISSING = "wif-grant-type", "wif-assertion-verified", "wif-assertion-missing"
MALFORMED, AUDIENCE, EXPIRED = "wif-assertion-malformed", "wif-assertion-audience", "wif-assertion-expired"
NO_RETRY, NO_FALLBACK = "wif-no-retry", "wif-grant-fallback"
BROKEN_BY: Final = {"valid_jwt": "", "wrong_audience_jwt": AUDIENCE, "expired_jwt": EXPIRED}
"""The tokens in the client's context, each with the requirement that the client breaks by sending it."""


@official_check(
    "auth/wif-jwt-bearer",
    "A workload exchanges its JWT for a token",
    requirements={
        WORKLOAD_GRANT: "A token request does not use the grant type jwt-bearer",
        ACCEPTED: "The workload's assertion was not accepted",
        MISSING: "A token request has no assertion",
        MALFORMED: "The assertion is not the workload's token",
        AUDIENCE: "The assertion is for another audience",
        EXPIRED: "The assertion has expired",
        NO_RETRY: "The workload repeated a rejected token request",
        NO_FALLBACK: "The workload tried another grant type after a rejection",
        **SHARED,
    },
)
def judge_wif_jwt_bearer(trace: Trace) -> Iterator[Observation]:
    flow = Flow(trace)
    own = [
        observation for request in flow.token_requests for observation in _workload_assertion(flow, request)
    ]
    expected = {ACCEPTED: "a token request with the workload's token as assertion"}
    yield from observe_steps(trace, [*own, *_retries(flow)], expected=expected)


def _workload_assertion(flow: Flow, request: AuthRequest) -> Iterator[Observation]:
    kind, assertion = request.params.get("grant_type"), request.params.get("assertion")
    yield observe(WORKLOAD_GRANT, kind == JWT_BEARER, request, expected=JWT_BEARER, observed=repr(kind))
    if kind != JWT_BEARER:
        return
    yield observe(MISSING, bool(assertion), request, expected="an assertion", observed="none")
    if not assertion:
        return
    # Only the provider has its key, so every valid token is in the context.
    names = {flow.context.get(name): name for name in BROKEN_BY}
    broken = BROKEN_BY[names[assertion]] if assertion in names else MALFORMED
    observed = names.get(assertion, "something else")
    for requirement in (MALFORMED, AUDIENCE, EXPIRED):
        expected = "the token in valid_jwt"
        yield observe(requirement, requirement != broken, request, expected=expected, observed=observed)
    if not broken:
        error = request.answer.get("error") or request.call.status
        accepted = request.call.status == 200 or error in REFUSED_SCOPES.values()
        expected = "a token request with the workload's token as assertion"
        yield observe(ACCEPTED, accepted, request, expected=expected, observed=f"rejected: {error}")


def _retries(flow: Flow) -> Iterator[Observation]:
    """The token requests after a rejection. Without any, the client respects both requirements."""
    rejected = next((request for request in flow.token_requests if request.call.status >= 400), None)
    if rejected is None:
        return
    later = [request for request in flow.token_requests if request.n > rejected.n]
    same = [request for request in later if request.params.get("grant_type") == JWT_BEARER]
    other = [request for request in later if request not in same]
    for requirement, requests in ((NO_RETRY, same), (NO_FALLBACK, other)):
        evidence, observed = (rejected, *requests[:1]), f"{len(requests)} more"
        expected = "no further token request of that kind"
        yield observe(requirement, not requests, *evidence, expected=expected, observed=observed)


# --- what the checks must catch


WITH_SECRET, WITH_KEY = "auth/client-credentials-basic", "auth/client-credentials-jwt"
WITH_TOKEN: Final = "auth/wif-jwt-bearer"


@on_request("sends its secret in the form", breaks=BASIC_AUTH, scenario=WITH_SECRET)
def client_secret_in_form(request: Request, client: ScriptedClient) -> Request | None:
    if is_to(request, TOKEN):
        request.set("Authorization", None)
    pair = {name: client.context[name] for name in ("client_id", "client_secret")}
    return altered(request, TOKEN, **pair)


@on_request("requests a token with the grant type password", breaks=GRANT_TYPE)
def password_grant(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, grant_type="password")


def _claims(name: str, fault: str, *, breaks: str, **claims: Any) -> ClientSaboteur:
    """A client whose assertion has other claims."""
    return on_request(fault, breaks=breaks, scenario=WITH_KEY, id=f"auth.{name}")(
        lambda request, client: with_claims(request, client, **claims)
    )


OTHER_CLAIMS: Final = (
    _claims("issued-by-another", "sends an assertion with another `iss`", breaks=CLAIMS["iss"], iss="other"),
    _claims("about-another", "sends an assertion with another `sub`", breaks=CLAIMS["sub"], sub="other"),
    _claims("assertion-long-past", "sends an expired assertion", breaks=VERIFIED, iat=0, exp=60),
)


@on_request("sends an assertion for the token endpoint", breaks=VERIFIED, scenario=WITH_KEY)
def assertion_for_endpoint(request: Request, client: ScriptedClient) -> Request | None:
    host = request.header("host")
    return with_claims(request, client, aud=f"http://{host}{TOKEN}")


@on_request("signs its assertion with another key", breaks=VERIFIED, scenario=WITH_KEY)
def stranger_signs(request: Request, client: ScriptedClient) -> Request | None:
    if not is_to(request, TOKEN):
        return request
    head, _, _ = parameters(request)["client_assertion"].rpartition(".")
    signature = base64url(new_key("ES256").sign(head.encode()))
    return altered(request, TOKEN, client_assertion=f"{head}.{signature}")


@on_request("sends a workload token for another server", breaks=AUDIENCE, scenario=WITH_TOKEN)
def workload_token_for_another(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, assertion=client.context["wrong_audience_jwt"])


@on_request("sends an expired workload token", breaks=EXPIRED, scenario=WITH_TOKEN)
def workload_token_expired(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, assertion=client.context["expired_jwt"])


@on_request("truncates its workload token", breaks=MALFORMED, scenario=WITH_TOKEN)
def workload_token_cut(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, assertion=client.context["valid_jwt"][:-8])


SAML: Final = "urn:ietf:params:oauth:client-assertion-type:saml2-bearer"
_as_client, _as_workload = (partial(alters, TOKEN, scenario) for scenario in (WITH_KEY, WITH_TOKEN))
ALTERED: Final = (
    _as_client(
        "assertion-of-another-type", "sends a SAML assertion", ASSERTION_TYPE, client_assertion_type=SAML
    ),
    _as_workload("workload-without-token", "sends no workload token", MISSING, assertion=None),
    _as_workload(
        "workload-of-another-name", "sends an unknown client id", ACCEPTED, client_id="somebody-else"
    ),
    _as_workload(
        "workload-as-client", "uses the client credentials grant", WORKLOAD_GRANT, grant_type=CREDENTIALS
    ),
)


@misbehaving(
    "tries another grant type after a rejection",
    breaks=NO_FALLBACK,
    scenario=WITH_TOKEN,
    transports=HTTP_ONLY,
)
async def workload_tries_otherwise(client: ScriptedClient) -> None:
    await _open_with_expired_token(client, "jwt_bearer", CREDENTIALS)


@misbehaving("repeats a rejected token request", breaks=NO_RETRY, scenario=WITH_TOKEN, transports=HTTP_ONLY)
async def workload_tries_again(client: ScriptedClient) -> None:
    await _open_with_expired_token(client, "jwt_bearer", "jwt_bearer")


async def _open_with_expired_token(client: ScriptedClient, *grants: str) -> None:
    for grant in grants:
        # A new context, since the trace holds the original one.
        expired = client.context["expired_jwt"]
        client.context = {**client.context, "valid_jwt": expired, "oauth": {"grant": grant}}
        with suppress(StepFailed):
            await client.open()
