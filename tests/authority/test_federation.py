"""Grants based on a token that another party signed: which are accepted, and how others are refused."""

from typing import Any

import jwt
import pytest

from assay.authority.authority import Authority
from assay.authority.keys import base64url, new_key
from assay.authority.record import JWT_BEARER, TOKEN_EXCHANGE, Client, digest
from assay.authority.settings import Settings, Trusted
from tests.authority.flow import ISSUER, RESOURCE, ManualClock, OAuthFlow, error_of, present, proof

NOW = 1_800_000_000
ELSEWHERE = "https://resource-authority.example"
JAG_TYPE = "oauth-id-jag+jwt"
JAG = "urn:ietf:params:oauth:token-type:id-jag"
ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"
PERSONAL = Client(id="agent", grants=(TOKEN_EXCHANGE,), id_elsewhere="agent-elsewhere")
SAME = Client(id="same", grants=(TOKEN_EXCHANGE,))
OUTSIDER = Client(id="outsider")
OTHER_PROVIDER = Authority(Settings(issuer="https://other-idp.example"), now=ManualClock())
TRUSTED = Trusted(issuer=OTHER_PROVIDER.issuer, jwks=OTHER_PROVIDER.jwks())


def provider(**settings: Any) -> OAuthFlow:
    defaults = {"grants": (TOKEN_EXCHANGE,), "clients": (PERSONAL, SAME, OUTSIDER), "trusted": (TRUSTED,)}
    return OAuthFlow(**{**defaults, **settings})


def wish(**changes: Any) -> dict[str, Any]:
    form = {
        "grant_type": TOKEN_EXCHANGE,
        "requested_token_type": JAG,
        "subject_token_type": ID_TOKEN,
        "audience": ELSEWHERE,
        "resource": RESOURCE,
        "client_id": "agent",
    }
    return present({**form, **changes})


async def test_an_id_token_becomes_a_grant_for_another_authority() -> None:
    flow = provider()
    token = flow.authority.identify("ann", "agent")
    response = await flow.token(**wish(subject_token=token, scope="read"))
    granted = response.json()
    assert (granted["issued_token_type"], granted["token_type"], granted["scope"]) == (JAG, "N_A", "read")
    assert jwt.get_unverified_header(granted["access_token"])["typ"] == JAG_TYPE
    claims = flow.claims(granted["access_token"], audience=ELSEWHERE)
    expected = {"sub": "ann", "client_id": "agent-elsewhere", "resource": RESOURCE, "scope": "read"}
    assert expected.items() <= claims.items()
    assert claims.keys() >= {"iss", "iat", "exp", "jti"}
    assert await OAuthFlow(store=flow.authority.store).introspect(granted["access_token"]) == {
        "active": False
    }


async def test_a_grant_without_scope_says_none_and_a_client_may_have_one_id_everywhere() -> None:
    flow = provider()
    both = [RESOURCE, "https://b.example"]
    token = flow.authority.identify("ann", "same")
    granted = (await flow.token(**wish(subject_token=token, client_id="same", resource=both))).json()
    claims = flow.claims(granted["access_token"], audience=ELSEWHERE)
    assert "scope" not in granted and "scope" not in claims
    assert (claims["client_id"], claims["resource"]) == ("same", both)


async def test_an_id_token_of_another_provider_counts_where_that_is_trusted() -> None:
    token = OTHER_PROVIDER.identify("ann", "agent")
    assert (await provider().token(**wish(subject_token=token))).status_code == 200
    assert error_of(await provider(trusted=()).token(**wish(subject_token=token))) == "400 invalid_request"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        *(({name: None}, "invalid_request") for name in wish() if name not in ("client_id", "grant_type")),
        ({"subject_token": None}, "invalid_request"),
        ({"requested_token_type": ID_TOKEN}, "invalid_request"),
        ({"subject_token_type": JAG}, "invalid_request"),
        ({"resource": "relative"}, "invalid_target"),
        ({"scope": '"'}, "invalid_scope"),
        ({"client_id": "same"}, "invalid_request"),
        ({"client_id": "outsider"}, "unauthorized_client"),
    ],
)
async def test_an_exchange_says_what_it_needs(changes: dict[str, Any], error: str) -> None:
    flow = provider()
    form = wish(**{"subject_token": flow.authority.identify("ann", "agent"), **changes})
    assert error_of(await flow.token(**form)) == f"400 {error}"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"aud": "other"}, "subject_token is for another audience: aud"),
        ({"exp": NOW}, "subject_token has expired"),
        ({"nbf": NOW + 61}, "subject_token is not valid yet"),
        ({"iss": "https://unknown.example"}, "subject_token is from an untrusted issuer"),
        ({"sub": None}, "subject_token has no sub"),
        ({"exp": None}, "subject_token has no exp"),
    ],
)
async def test_an_id_token_that_is_not_believed_is_refused_with_its_reason(
    changes: dict[str, Any], reason: str
) -> None:
    flow = provider()
    claims = {"iss": ISSUER, "sub": "ann", "aud": "agent", "exp": NOW + 60, **changes}
    key = flow.authority.keys.current
    token = jwt.encode(present(claims), key.private, key.algorithm, headers={"kid": key.kid})
    response = await flow.token(**wish(subject_token=token))
    assert (error_of(response), response.json()["error_description"]) == ("400 invalid_request", reason)


async def test_an_access_token_is_no_id_token() -> None:
    flow = provider()
    token = flow.authority.mint("ann", audience="agent")
    assert "type JWT" in (await flow.token(**wish(subject_token=token))).json()["error_description"]


ISSUING = Authority(Settings(issuer="https://idp.example"), now=ManualClock())
STRANGER = new_key("ES256")
CLIENT = Client(id="agent", secret=digest("s3cret"), methods=("client_secret_post",), grants=(JWT_BEARER,))
BY_OTHERS = Client(id="by-others", secret=digest("s3cret"), methods=("client_secret_post",))
FEDERATED = Trusted(issuer=ISSUING.issuer, jwks=ISSUING.jwks(), type=JAG_TYPE)


def taking(**settings: Any) -> OAuthFlow:
    defaults = {"grants": (JWT_BEARER,), "clients": (CLIENT, BY_OTHERS), "trusted": (FEDERATED,)}
    return OAuthFlow(**{**defaults, "resources": (RESOURCE, "https://b.example"), **settings})


def jag(*, typ: str = JAG_TYPE, fault: str | None = None, **changes: Any) -> str:
    claims = {"resource": RESOURCE, "scope": None, **changes}
    return ISSUING.mint(
        "ann", audience=ISSUER, client_id="agent", claims=claims, header={"typ": typ}, fault=fault
    )


def brought(assertion: Any, **changes: Any) -> dict[str, Any]:
    form = {"grant_type": JWT_BEARER, "assertion": assertion, "client_id": "agent", "client_secret": "s3cret"}
    return present({**form, **changes})


@pytest.mark.parametrize(
    ("assertion", "changes", "scope"),
    [
        (jag(), {}, ""),
        (jag(), {"scope": "read"}, "read"),
        (jag(scope="read write"), {}, "read write"),
        (jag(scope="read write"), {"scope": "read"}, "read"),
        (jag(resource=[RESOURCE, "https://b.example"]), {"resource": RESOURCE}, ""),
        (jag(aud=[f"{ISSUER}/token", "https://other.example"]), {"resource": RESOURCE}, ""),
    ],
)
async def test_a_grant_of_a_trusted_issuer_brings_access_and_nothing_to_refresh(
    assertion: str, changes: dict[str, Any], scope: str
) -> None:
    flow = taking()
    first, again = [await flow.token(**brought(assertion, **changes)) for _ in range(2)]
    assert (first.status_code, again.status_code) == (200, 200)
    claims = flow.claims(first.json()["access_token"])
    assert (claims["sub"], claims["client_id"], claims["scope"]) == ("ann", "agent", scope)
    assert "refresh_token" not in first.json()


@pytest.mark.parametrize(
    ("assertion", "reason"),
    [
        ("malformed", "is not a JWT"),
        ("a" * 20_000, "is not a JWT"),
        (f"{base64url(b'[' * 3000)}.e30.", "is not a JWT"),
        (jag(fault="expired-token"), "has expired"),
        (jag(fault="future-token"), "is not valid yet"),
        (jag(fault="token-wrong-audience"), "is for another audience: aud"),
        (jag(fault="token-without-audience"), "has no aud"),
        (jag(fault="token-without-expiry"), "has no exp"),
        (jag(fault="token-without-subject"), "has no sub"),
        (jag(fault="token-wrong-issuer"), "is from an untrusted issuer"),
        (jag(fault="alg-none"), "must be signed with one of ES256, RS256, PS256, EdDSA"),
        (jag(fault="hs256-with-public-key"), "must be signed with one of ES256, RS256, PS256, EdDSA"),
        (jag(fault="stranger-key"), "is not signed with a known key"),
        (jag(fault="unknown-kid"), "is not signed with a known key"),
        (jag(fault="bad-signature"), "is not signed with a known key"),
        (jag(exp=True), "has an exp or nbf that is not a number"),
        (jag(typ="JWT"), f"is not of the type {JAG_TYPE}"),
        (jag(client_id=None), "has no client_id"),
        (jag(resource=None), "has no resource"),
        (jag(resource=5), "has a resource that is not a string"),
        (jag(resource="https://unknown.example"), "is for an unknown resource"),
        (jag(client_id="other"), "is for another client: client_id"),
    ],
)
async def test_a_grant_that_is_not_believed_is_refused_with_its_reason(assertion: str, reason: str) -> None:
    response = await taking().token(**brought(assertion))
    assert error_of(response) == "400 invalid_grant"
    assert response.json()["error_description"] == f"assertion {reason}"


@pytest.mark.parametrize(
    ("assertion", "changes", "error"),
    [
        (None, {}, "400 invalid_request"),
        ([jag(), jag()], {}, "400 invalid_request"),
        (jag(), {"client_secret": "wrong"}, "401 invalid_client"),
        (jag(), {"client_id": "by-others"}, "400 unauthorized_client"),
        (jag(), {"client_id": None, "client_secret": None}, "401 invalid_client"),
        ("malformed", {"client_id": None, "client_secret": None}, "401 invalid_client"),
        (jag(), {"resource": "https://b.example"}, "400 invalid_target"),
        (jag(scope="read"), {"scope": "read write"}, "400 invalid_scope"),
    ],
)
async def test_a_good_grant_in_a_bad_request_is_refused(
    assertion: Any, changes: dict[str, Any], error: str
) -> None:
    assert error_of(await taking().token(**brought(assertion, **changes))) == error


async def test_who_brings_an_assertion_is_known_only_where_that_needs_no_proof() -> None:
    trusted = Trusted(issuer=ISSUING.issuer, jwks=ISSUING.jwks(), client_id="agent")
    form = brought(jag(), client_id=None, client_secret=None)
    assert error_of(await taking(trusted=(trusted,)).token(**form)) == "401 invalid_client"


async def test_such_tokens_can_be_bound_to_a_key_too() -> None:
    response = await taking().token(**brought(jag()), headers={"dpop": proof()})
    assert response.json()["token_type"] == "DPoP"


@pytest.mark.parametrize("kind", [TOKEN_EXCHANGE, JWT_BEARER])
async def test_both_are_off_unless_they_are_switched_on(kind: str) -> None:
    flow = OAuthFlow()
    response = await flow.token(grant_type=kind, client_id="public")
    assert error_of(response) == "400 unsupported_grant_type"
    known = (await flow.http.get("/.well-known/oauth-authorization-server")).json()
    assert kind not in known["grant_types_supported"]
