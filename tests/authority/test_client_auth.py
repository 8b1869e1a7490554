"""Client authentication at the token endpoint."""

import base64
from typing import Any

import jwt
import pytest

from assay.authority.client_auth import ASSERTION
from assay.authority.fetch import Fetched
from assay.authority.keys import SigningKey, base64url, new_key
from assay.authority.record import Client, digest
from tests.authority.flow import CONFIDENTIAL, ISSUER, PUBLIC, OAuthFlow, error_of, present

KEY = new_key("ES256")
STRANGER = new_key("ES256")
GRANTS = ("client_credentials",)
SIGNING = Client(id="signing", methods=("private_key_jwt",), grants=GRANTS, jwks={"keys": [KEY.jwk()]})
REMOTE = Client(
    id="remote", methods=("private_key_jwt",), grants=GRANTS, jwks_uri="https://keys.example/jwks"
)
ODD_KEYS = {"keys": [5, {"kty": []}, {"kty": "EC", "crv": 5}, {**KEY.jwk(), "x": 5}, {}]}
ODDLY = Client(id="odd", methods=("private_key_jwt",), grants=GRANTS, jwks=ODD_KEYS)
KEYLESS = Client(id="keyless", methods=("private_key_jwt",), grants=GRANTS, jwks={"keys": 5})
DEEP = base64url(b"[" * 3000)
ODD = Client(id="a b:c", secret=digest("p%+ &"), methods=("client_secret_basic",), grants=GRANTS)
TOKEN = f"{ISSUER}/token"


async def jwks_of_remote(url: str) -> Fetched:
    assert url == "https://keys.example/jwks"
    return Fetched({"keys": [KEY.jwk()]}, None)


def make_flow() -> OAuthFlow:
    return OAuthFlow(
        clients=(PUBLIC, CONFIDENTIAL, SIGNING, REMOTE, ODD, ODDLY, KEYLESS), fetch=jwks_of_remote
    )


def basic(text: str) -> dict[str, str]:
    return {"authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}


def assertion(key: SigningKey = KEY, **changes: Any) -> str:
    header = {"kid": KEY.kid, **changes.pop("header", {})}
    now = 1_800_000_000
    claims = {"iss": "signing", "sub": "signing", "aud": ISSUER, "jti": "1", "exp": now + 60, **changes}
    return jwt.encode(present(claims), key.private, key.algorithm, headers=present(header))


def signed(text: str, **form: Any) -> dict[str, Any]:
    return {"client_assertion_type": ASSERTION, "client_assertion": text, **form}


HMAC = jwt.encode(
    {"iss": "signing", "sub": "signing", "aud": ISSUER, "jti": "1", "exp": 1_800_000_060}, "k" * 32
)
ALONE: dict[str, str] = {}
GOOD: list[tuple[dict[str, str], dict[str, Any]]] = [
    (basic("confidential:s3cret"), {}),
    (basic("confidential:s3cret"), {"client_id": "confidential"}),
    (basic("a+b%3Ac:p%25%2B+%26"), {}),
    (ALONE, {"client_id": "confidential", "client_secret": "s3cret"}),
    (ALONE, signed(assertion())),
    (ALONE, signed(assertion(), client_id="signing")),
    (ALONE, signed(assertion(aud=TOKEN))),
    (ALONE, signed(assertion(aud=[ISSUER, "https://other.example"]))),
    (ALONE, signed(assertion(header={"kid": None}))),
    (ALONE, signed(assertion(nbf=1_800_000_000))),
    (ALONE, signed(assertion(jti="\ud800"))),
    (ALONE, signed(assertion(jti=None))),
    (ALONE, signed(assertion(aud=f"{ISSUER}/"))),
    (ALONE, signed(assertion(iss="remote", sub="remote"))),
]
BAD: list[tuple[dict[str, str], dict[str, Any], str]] = [
    (ALONE, {}, "401 invalid_client"),
    (ALONE, {"client_id": "public"}, "400 unauthorized_client"),
    (ALONE, {"client_id": "confidential"}, "401 invalid_client"),
    (ALONE, {"client_id": "confidential", "client_secret": "wrong"}, "401 invalid_client"),
    (ALONE, {"client_id": "public", "client_secret": "s3cret"}, "401 invalid_client"),
    (ALONE, {"client_id": "a b:c", "client_secret": "p%+ &"}, "401 invalid_client"),
    (basic("confidential:wrong"), {}, "401 invalid_client"),
    (basic("confidential"), {}, "401 invalid_client"),
    (basic("public:"), {}, "401 invalid_client"),
    (basic("stranger:s3cret"), {}, "401 invalid_client"),
    ({"authorization": "Basic ???"}, {}, "401 invalid_client"),
    ({"authorization": "Bearer abc"}, {}, "401 invalid_client"),
    (basic("confidential:s3cret"), {"client_secret": "s3cret"}, "400 invalid_request"),
    (basic("confidential:s3cret"), {"client_id": "public"}, "400 invalid_request"),
    (basic("confidential:s3cret"), signed(assertion()), "400 invalid_request"),
    (ALONE, {"client_assertion": assertion()}, "400 invalid_request"),
    (ALONE, {"client_assertion": assertion(), "client_assertion_type": "x"}, "400 invalid_request"),
    (ALONE, signed("abc"), "401 invalid_client"),
    (ALONE, signed("a" * 20_000), "401 invalid_client"),
    (ALONE, signed(f"{DEEP}.{DEEP}.{DEEP}"), "401 invalid_client"),
    (ALONE, signed(assertion(iss="odd", sub="odd")), "401 invalid_client"),
    (ALONE, signed(assertion(iss="keyless", sub="keyless")), "401 invalid_client"),
    (ALONE, signed(assertion(exp=float("nan"))), "401 invalid_client"),
    (ALONE, signed(assertion(exp=float("inf"))), "401 invalid_client"),
    (ALONE, signed(assertion(jti=5)), "401 invalid_client"),
    (ALONE, signed(assertion(nbf=1_800_000_061)), "401 invalid_client"),
    (ALONE, signed(assertion(nbf="now")), "401 invalid_client"),
    (ALONE, signed(assertion(iss="\ud800", sub="\ud800")), "401 invalid_client"),
    (ALONE, signed(assertion(), client_id="public"), "400 invalid_request"),
    (ALONE, signed(assertion(STRANGER)), "401 invalid_client"),
    (ALONE, signed(assertion(header={"kid": "other"})), "401 invalid_client"),
    (ALONE, signed(HMAC), "401 invalid_client"),
    (ALONE, signed(assertion(aud="https://other.example")), "401 invalid_client"),
    (ALONE, signed(assertion(aud=None)), "401 invalid_client"),
    (ALONE, signed(assertion(exp=None)), "401 invalid_client"),
    (ALONE, signed(assertion(exp=1_800_000_000)), "401 invalid_client"),
    (ALONE, signed(assertion(exp=1_800_009_000)), "401 invalid_client"),
    (ALONE, signed(assertion(iss="public")), "401 invalid_client"),
    (ALONE, signed(assertion(iss="public", sub="public")), "401 invalid_client"),
    (ALONE, signed(assertion(iss="confidential", sub="confidential")), "401 invalid_client"),
]


@pytest.mark.parametrize(("headers", "form"), GOOD)
async def test_a_client_is_known_by_what_it_proves(headers: dict[str, str], form: dict[str, Any]) -> None:
    response = await make_flow().token(grant_type="client_credentials", headers=headers, **form)
    assert response.status_code == 200, response.text


@pytest.mark.parametrize(("headers", "form", "error"), BAD)
async def test_a_client_that_proves_nothing_gets_nothing(
    headers: dict[str, str], form: dict[str, Any], error: str
) -> None:
    response = await make_flow().token(grant_type="client_credentials", headers=headers, **form)
    assert error_of(response) == error
    assert "access_token" not in response.json()
    if response.status_code == 401:
        assert response.headers["www-authenticate"].startswith("Basic ")


async def test_two_headers_are_one_too_many() -> None:
    flow = make_flow()
    headers = [("authorization", basic("confidential:s3cret")["authorization"])] * 2
    response = await flow.http.post("/token", data={"grant_type": "client_credentials"}, headers=headers)
    assert error_of(response) == "400 invalid_request"


async def test_an_assertion_counts_once() -> None:
    flow, form = make_flow(), signed(assertion(), grant_type="client_credentials")
    assert (await flow.token(**form)).status_code == 200
    assert error_of(await flow.token(**form)) == "401 invalid_client"
