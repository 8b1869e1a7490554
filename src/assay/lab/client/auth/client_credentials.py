"""Grants without a user: client credentials, workload identity."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from assay.authority.authority import Authority
from assay.authority.keys import base64url, new_key, public_jwk
from assay.authority.record import JWT_BEARER, Client, digest
from assay.authority.settings import Lifetimes, Settings, Trusted
from assay.lab.client.declaration import client_scenario, official_scenario
from assay.lab.everything.declaration import official_check
from assay.lab.harness import Observation, Request, Trace, observe
from assay.lab.harness.sabotage.client_saboteur import misbehaving, on_request
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import StepFailed
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, optional
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.transport import HTTP_ONLY

from .altered_request import TOKEN, altered, goes_to, parameters, resigned
from .credential import BASIC, BRIEF, GRANT_ROW, OWED, credentials, grant_types, method_of, read_jwt, settings
from .credential import GRANT as CREDENTIAL_GRANT
from .credential import NAME as CREDENTIAL_NAME
from .flow import Journey, Stop
from .official_step import SHARED, walked
from .protected_server import FOUND, TWO, Protection, protect

OAUTH: Final = {"grant": "jwt_bearer"}
NAME: Final = "conformance-wif-workload"
SUBJECT: Final = "conformance-workload"
PROVIDER: Final = "https://idp.conformance-test.local"
"""Is never asked anything."""
UNAUTHORIZED: Final = "wif.trigger-unauthorized"
REFUSED: Final = {UNAUTHORIZED: "unauthorized_client", "wif.rejected": "invalid_scope"}
"""Scopes that no workload is granted, and what it is told."""


async def protect_from_workload(stage: ClientStage, scope: str = "") -> None:
    """The scope is the one that the challenge names."""
    provider = Authority(Settings(issuer=PROVIDER))
    settings = {
        "grants": (JWT_BEARER,),
        "registration": False,
        "clients": (Client(id=NAME, grants=(JWT_BEARER,)),),
        "trusted": (Trusted(issuer=PROVIDER, jwks=provider.jwks(), client_id=NAME),),
        "refused_scopes": REFUSED,
        "metadata": {"grant_types_supported": [JWT_BEARER]},
    }
    protected = await protect(stage, Protection(settings=settings, scope=scope))
    (issuer,) = protected.servers
    stage.context |= {
        "client_id": NAME,
        "valid_jwt": _made(provider, audience=issuer),
        "wrong_audience_jwt": _made(provider, audience="https://wrong.example"),
        "expired_jwt": _made(provider, audience=issuer, fault="expired-token"),
    }


def _made(provider: Authority, **options: Any) -> str:
    plain = {"client_id": None, "scope": None}
    return provider.mint(SUBJECT, header={"typ": "JWT"}, claims=plain, **options)


# --- what is asked


SECRET: Final = "conformance-test-secret"
METHOD: Final = "client_secret_basic"
KNOWN: Final = Client(
    id=CREDENTIAL_NAME, secret=digest(SECRET), methods=(METHOD,), grants=(CREDENTIAL_GRANT,)
)


@official_scenario(
    "auth/client-credentials-basic",
    "A client that acts for itself, with a secret",
    script=BRIEF,
    window=FOUND,
    aliases=("auth/client-credentials",),
)
async def drive_client_credentials_basic(stage: ClientStage) -> None:
    await protect(stage, Protection(settings=settings(KNOWN, METHOD)))
    stage.context |= {"client_id": CREDENTIAL_NAME, "client_secret": SECRET}


ALGORITHM: Final = "ES256"
CLIENT_CREDENTIALS_JWT_METHOD: Final = "private_key_jwt"
LONG: Final = Lifetimes(assertion=86_400.0)
"""How long a client makes its assertion good for is its own affair."""


@official_scenario(
    "auth/client-credentials-jwt",
    "A client that acts for itself, with a key",
    script=BRIEF,
    window=FOUND,
    aliases=("auth/client-credentials",),
)
async def drive_client_credentials_jwt(stage: ClientStage) -> None:
    key = new_key(ALGORITHM)
    jwks = {"keys": [public_jwk(ALGORITHM, key.private)]}
    known = Client(
        id=CREDENTIAL_NAME, methods=(CLIENT_CREDENTIALS_JWT_METHOD,), grants=(CREDENTIAL_GRANT,), jwks=jwks
    )
    await protect(
        stage, Protection(settings={**settings(known, CLIENT_CREDENTIALS_JWT_METHOD), "lifetimes": LONG})
    )
    stage.context |= {
        "client_id": CREDENTIAL_NAME,
        "private_key_pem": key.private_pem(),
        "signing_algorithm": ALGORITHM,
    }


@official_scenario(
    "auth/wif-jwt-bearer",
    "A workload with a token of its own",
    script=ClientScript(steps=TWO, oauth=OAUTH),
    window=FOUND,
)
async def drive_wif_jwt_bearer(stage: ClientStage) -> None:
    await protect_from_workload(stage)


@client_scenario(
    "A workload that is refused",
    script=ClientScript(steps=(optional(LIST_TOOLS),), oauth=OAUTH, may_fail=True),
    exercises=("auth/wif-jwt-bearer",),
    transports=HTTP_ONLY,
    window=FOUND,
)
async def drive_workload_refused(stage: ClientStage) -> None:
    await protect_from_workload(stage, UNAUTHORIZED)


# --- how it is judged


ROW = "client-credentials-basic-auth"
WANTED = "a token request with the id and the secret that the client was given, by Basic"


@official_check(
    "auth/client-credentials-basic", "A client that acts for itself", requirements=(GRANT_ROW, ROW, *SHARED)
)
def judge_client_credentials_basic(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    own = [*grant_types(journey), *_shown(journey)]
    yield from walked(trace, own, wanted={**OWED, ROW: WANTED})


def _shown(journey: Journey) -> Iterator[Observation]:
    given = tuple(journey.context.get(key) for key in ("client_id", "client_secret"))
    for stop in journey.exchanges:
        if stop.said.get("grant_type") == CREDENTIAL_GRANT:
            used, shown = method_of(stop), credentials(stop)
            observed = f"{used}" if used != BASIC else "another id or secret"
            yield observe(ROW, used == BASIC and shown == given, stop, expected=WANTED, observed=observed)


TYPE_ROW, VERIFIED = "client-credentials-assertion-type", "client-credentials-jwt-verified"
NAMED: Final = {"iss": "client-credentials-jwt-iss", "sub": "client-credentials-jwt-sub"}
TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
CLIENT_CREDENTIALS_JWT_WANTED: Final = (
    "an assertion, signed with the client's key, for the issuer, which the authorization server takes"
)


@official_check(
    "auth/client-credentials-jwt",
    "A client that acts for itself, with a key",
    requirements=(GRANT_ROW, TYPE_ROW, *NAMED.values(), VERIFIED, *SHARED),
)
def judge_client_credentials_jwt(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    stops = [stop for stop in journey.exchanges if stop.said.get("grant_type") == CREDENTIAL_GRANT]
    own = [*grant_types(journey), *(one for stop in stops for one in _signed(journey, stop))]
    yield from walked(trace, own, wanted={**OWED, VERIFIED: CLIENT_CREDENTIALS_JWT_WANTED})


def _signed(journey: Journey, stop: Stop) -> Iterator[Observation]:
    kind, name = stop.said.get("client_assertion_type"), journey.context.get("client_id")
    yield observe(TYPE_ROW, kind == TYPE, stop, expected=TYPE, observed=repr(kind))
    claims = read_jwt(stop.said.get("client_assertion")).claims
    for claim, row in NAMED.items():
        if claims:
            said = claims.get(claim)
            yield observe(row, said == name, stop, expected=f"{claim} {name}", observed=f"{claim} {said}")
    problem = _problem(claims, stop)
    yield observe(VERIFIED, not problem, stop, expected=CLIENT_CREDENTIALS_JWT_WANTED, observed=problem)


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


GRANT, WIF_JWT_BEARER_VERIFIED, MISSING = "wif-grant-type", "wif-assertion-verified", "wif-assertion-missing"
MALFORMED, AUDIENCE, EXPIRED = "wif-assertion-malformed", "wif-assertion-audience", "wif-assertion-expired"
AGAIN, OTHERWISE = "wif-no-retry", "wif-grant-fallback"
GIVEN: Final = {"valid_jwt": "", "wrong_audience_jwt": AUDIENCE, "expired_jwt": EXPIRED}
"""What the client was given, and which rule it breaks by showing it."""
WIF_JWT_BEARER_WANTED: Final = "a token request with the token of the workload as its assertion"


@official_check(
    "auth/wif-jwt-bearer",
    "A workload with a token of its own",
    requirements=(
        GRANT,
        WIF_JWT_BEARER_VERIFIED,
        MISSING,
        MALFORMED,
        AUDIENCE,
        EXPIRED,
        AGAIN,
        OTHERWISE,
        *SHARED,
    ),
)
def judge_wif_jwt_bearer(trace: Trace) -> Iterator[Observation]:
    journey = Journey(trace)
    own = [one for stop in journey.exchanges for one in _wif_jwt_bearer_shown(journey, stop)]
    yield from walked(
        trace, [*own, *_retries(journey)], wanted={WIF_JWT_BEARER_VERIFIED: WIF_JWT_BEARER_WANTED}
    )


def _wif_jwt_bearer_shown(journey: Journey, stop: Stop) -> Iterator[Observation]:
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
        yield observe(
            WIF_JWT_BEARER_VERIFIED,
            taken,
            stop,
            expected=WIF_JWT_BEARER_WANTED,
            observed=f"refused: {answer}",
        )


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


# --- what the checks must catch


@on_request(
    "it sends its secret in the form",
    breaks="client-credentials-basic-auth",
    scenario="auth/client-credentials-basic",
)
def client_secret_in_form(request: Request, client: ScriptedClient) -> Request | None:
    if goes_to(request, TOKEN):
        request.set("Authorization", None)
    given = {name: client.context[name] for name in ("client_id", "client_secret")}
    return altered(request, TOKEN, **given)


@on_request(
    "it asks for a token with a grant type that is not for clients alone",
    breaks="client-credentials-grant-type",
)
def password_grant(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, grant_type="password")


@on_request(
    "it calls its assertion something else",
    breaks="client-credentials-assertion-type",
    scenario="auth/client-credentials-jwt",
)
def assertion_of_another_type(request: Request, client: ScriptedClient) -> Request | None:
    return altered(
        request, TOKEN, client_assertion_type="urn:ietf:params:oauth:client-assertion-type:saml2-bearer"
    )


@on_request(
    "its assertion is issued by another",
    breaks="client-credentials-jwt-iss",
    scenario="auth/client-credentials-jwt",
)
def issued_by_another(request: Request, client: ScriptedClient) -> Request | None:
    return resigned(request, client, iss="somebody-else")


@on_request(
    "its assertion is about another",
    breaks="client-credentials-jwt-sub",
    scenario="auth/client-credentials-jwt",
)
def about_another(request: Request, client: ScriptedClient) -> Request | None:
    return resigned(request, client, sub="somebody-else")


@on_request(
    "its assertion is for the token endpoint",
    breaks="client-credentials-jwt-verified",
    scenario="auth/client-credentials-jwt",
)
def assertion_for_endpoint(request: Request, client: ScriptedClient) -> Request | None:
    host = request.header("host")
    return resigned(request, client, aud=f"http://{host}{TOKEN}")


MINUTE = 60


@on_request(
    "its assertion has expired",
    breaks="client-credentials-jwt-verified",
    scenario="auth/client-credentials-jwt",
)
def assertion_long_past(request: Request, client: ScriptedClient) -> Request | None:
    return resigned(request, client, iat=0, exp=MINUTE)


@on_request(
    "its assertion is signed with another key",
    breaks="client-credentials-jwt-verified",
    scenario="auth/client-credentials-jwt",
)
def stranger_signs(request: Request, client: ScriptedClient) -> Request | None:
    if not goes_to(request, TOKEN):
        return request
    head, _, _ = parameters(request)["client_assertion"].rpartition(".")
    signature = base64url(new_key("ES256").sign(head.encode()))
    return altered(request, TOKEN, client_assertion=f"{head}.{signature}")


@on_request(
    "the workload shows a token for another authorization server",
    breaks="wif-assertion-audience",
    scenario="auth/wif-jwt-bearer",
)
def workload_token_for_another(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, assertion=client.context["wrong_audience_jwt"])


@on_request(
    "the workload shows a token that has expired",
    breaks="wif-assertion-expired",
    scenario="auth/wif-jwt-bearer",
)
def workload_token_expired(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, assertion=client.context["expired_jwt"])


@on_request(
    "the workload shows part of its token", breaks="wif-assertion-malformed", scenario="auth/wif-jwt-bearer"
)
def workload_token_cut(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, assertion=client.context["valid_jwt"][:-8])


@on_request(
    "the workload does not show its token", breaks="wif-assertion-missing", scenario="auth/wif-jwt-bearer"
)
def workload_without_token(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, assertion=None)


@on_request(
    "the workload comes as a client that nobody knows",
    breaks="wif-assertion-verified",
    scenario="auth/wif-jwt-bearer",
)
def workload_of_another_name(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, client_id="somebody-else")


@misbehaving(
    "the workload tries another grant type when it was refused",
    breaks="wif-grant-fallback",
    scenario="auth/wif-jwt-bearer",
    transports=HTTP_ONLY,
)
async def workload_tries_otherwise(client: ScriptedClient) -> None:
    for grant in ("jwt_bearer", "client_credentials"):
        # Another context, not the same one changed: the trace holds that.
        expired = client.context["expired_jwt"]
        client.context = {**client.context, "valid_jwt": expired, "oauth": {"grant": grant}}
        with suppress(StepFailed):
            await client.open()


@on_request(
    "the workload asks as a client that acts for itself",
    breaks="wif-grant-type",
    scenario="auth/wif-jwt-bearer",
)
def workload_as_client(request: Request, client: ScriptedClient) -> Request | None:
    return altered(request, TOKEN, grant_type="client_credentials")


@misbehaving(
    "the workload asks again when it was refused",
    breaks="wif-no-retry",
    scenario="auth/wif-jwt-bearer",
    transports=HTTP_ONLY,
)
async def workload_tries_again(client: ScriptedClient) -> None:
    for grant in ("jwt_bearer", "jwt_bearer"):
        # Another context, not the same one changed: the trace holds that.
        expired = client.context["expired_jwt"]
        client.context = {**client.context, "valid_jwt": expired, "oauth": {"grant": grant}}
        with suppress(StepFailed):
            await client.open()
