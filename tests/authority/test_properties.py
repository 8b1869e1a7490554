"""The authority answers any input, without internal errors and without issuing a token by accident."""

import asyncio
import json
from typing import Any

import jwt
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.authority.app import ENDPOINTS
from assay.authority.client_auth import ASSERTION
from assay.authority.keys import new_key
from tests.authority.flow import CHALLENGE, REDIRECT, OAuthFlow

KEY = new_key("ES256")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NAMES = (
    *("client_id", "client_secret", "redirect_uri", "response_type", "scope", "state", "resource", "nonce"),
    *(
        "code_challenge",
        "code_challenge_method",
        "grant_type",
        "code",
        "code_verifier",
        "refresh_token",
        "token",
    ),
    *("client_assertion", "client_assertion_type", "ticket", "decision", "user", "login_hint", "dpop_jkt"),
)
VALUES = (
    "public",
    "nobody",
    "code",
    "S256",
    CHALLENGE,
    REDIRECT,
    "http://[",
    "a b",
    ASSERTION,
    "a.b.c",
    "https://x/y",
)
PAIRS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES) | st.text(max_size=20)), max_size=10
)
MEMBERS = ("redirect_uris", "grant_types", "scope", "jwks", "jwks_uri", "client_name", "application_type")
KEY_MEMBERS = ("kty", "crv", "x", "y", "n", "e", "kid", "alg", "use")


async def answer(method: str, place: str, **sent: Any) -> int:
    async def nowhere(url: str) -> Any:
        raise AssertionError(f"fetched {url}")

    flow = OAuthFlow(fetch=nowhere, documents=False, auto_approve=False, dev_mint=True)
    response = await flow.http.request(method, place, **sent)
    assert "access_token" not in response.text or place == "/dev/mint"
    return response.status_code


@given(st.sampled_from(sorted(ENDPOINTS)), PAIRS)
@settings(max_examples=50, deadline=None)
def test_any_parameters_get_an_answer(endpoint: tuple[str, str], pairs: list[tuple[str, str]]) -> None:
    method, place = endpoint
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value)
    sent = {"params": fields} if method == "GET" else {"data": fields}
    assert asyncio.run(answer(method, place, **sent)) < 500


@given(st.dictionaries(st.sampled_from(MEMBERS), JSON, max_size=4) | JSON)
@settings(max_examples=30, deadline=None)
def test_any_description_of_a_client_gets_an_answer(described: Any) -> None:
    body = json.dumps(described).encode()
    headers = {"content-type": "application/json"}
    assert asyncio.run(answer("POST", "/register", content=body, headers=headers)) < 500


@given(
    st.dictionaries(st.sampled_from(KEY_MEMBERS), JSON, max_size=6),
    st.dictionaries(st.sampled_from(("jti", "htm", "htu", "iat", "exp", "nonce")), JSON, max_size=6),
)
@settings(max_examples=30, deadline=None)
def test_any_proof_gets_an_answer(jwk: dict[str, Any], claims: dict[str, Any]) -> None:
    header = {"typ": "dpop+jwt", "jwk": {**KEY.jwk(), **jwk}}
    plain = jwt.PyJWS().encode(json.dumps(claims).encode(), KEY.private, "ES256", header)
    form = {"grant_type": "client_credentials", "client_id": "confidential", "client_secret": "s3cret"}
    assert asyncio.run(answer("POST", "/token", data=form, headers={"dpop": plain})) == 400
