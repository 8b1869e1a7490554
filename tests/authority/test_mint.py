"""Tokens for tests: valid ones, and one for each fault that a resource server must detect."""

import base64
import hashlib
import hmac
from typing import Any

import jwt
import pytest

from assay.authority.authority import token_faults
from tests.authority.flow import RESOURCE, OAuthFlow

# Faults that a verifier of signature, issuer, audience and times need not detect.
TOLERATED = ("token-without-scope", "without-kid", "id-token-type")


async def test_a_minted_token_is_like_one_that_was_given_out() -> None:
    flow = OAuthFlow()
    token = flow.authority.mint(
        "ann", audience=RESOURCE, scopes=["read", "write"], client_id="c", lifetime=10
    )
    claims = flow.claims(token)
    assert (claims["sub"], claims["scope"], claims["client_id"]) == ("ann", "read write", "c")
    assert claims["exp"] - claims["iat"] == 10
    assert (await flow.introspect(token))["active"]


def test_claims_and_header_can_be_changed_and_removed() -> None:
    flow = OAuthFlow()
    token = flow.authority.mint(
        claims={"sub": None, "roles": ["a"]}, header={"typ": "JWT", "x": 1}, thumbprint="t"
    )
    claims = jwt.decode(token, options={"verify_signature": False})
    assert "sub" not in claims
    assert (claims["roles"], claims["cnf"]) == (["a"], {"jkt": "t"})
    assert jwt.get_unverified_header(token)["typ"] == "JWT"


@pytest.mark.parametrize("fault", [name for name in token_faults() if name not in TOLERATED])
async def test_a_token_with_a_fault_is_refused_by_a_good_verifier(fault: str) -> None:
    flow = OAuthFlow()
    token = flow.authority.mint(audience=RESOURCE, fault=fault)
    with pytest.raises((jwt.PyJWTError, KeyError)):
        flow.claims(token)
    assert await flow.introspect(token) == {"active": False}


@pytest.mark.parametrize(
    ("fault", "header", "claim"),
    [
        ("token-without-scope", {"typ": "at+jwt"}, {"scope": None}),
        ("without-kid", {"kid": None}, {}),
        ("id-token-type", {"typ": "JWT"}, {}),
        ("alg-none", {"alg": "none"}, {}),
        ("hs256-with-public-key", {"alg": "HS256"}, {}),
        ("unknown-kid", {"kid": "unknown"}, {}),
        ("token-wrong-audience", {}, {"aud": "https://attacker.example"}),
        ("expired-token", {}, {"exp": 1_800_000_300 - 86_400}),
        ("future-token", {}, {"nbf": 1_800_000_000 + 86_400}),
    ],
)
def test_a_fault_is_the_one_that_its_name_says(
    fault: str, header: dict[str, Any], claim: dict[str, Any]
) -> None:
    token = OAuthFlow().authority.mint(audience=RESOURCE, scopes=["read"], fault=fault)
    claims = jwt.decode(token, options={"verify_signature": False})
    actual = jwt.get_unverified_header(token)
    assert {name: actual.get(name) for name in header} == header
    assert {name: claims.get(name) for name in claim} == claim


def test_key_confusion_is_real() -> None:
    """A verifier that uses the public key as an HMAC secret accepts the token, which it must not."""
    flow = OAuthFlow()
    token = flow.authority.mint(fault="hs256-with-public-key")
    message, _, signature = token.rpartition(".")
    expected = hmac.digest(flow.authority.keys.current.public_pem(), message.encode(), hashlib.sha256)
    assert base64.urlsafe_b64decode(signature + "=") == expected


@pytest.mark.parametrize("fault", ["nonsense", "slow", "wrong-iss"])
def test_a_fault_that_is_none_of_tokens_is_refused(fault: str) -> None:
    with pytest.raises(ValueError, match="no fault of tokens"):
        OAuthFlow().authority.mint(fault=fault)
