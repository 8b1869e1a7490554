"""Proofs that a client holds a key: one that is good, and all that can be wrong with one."""

from __future__ import annotations

import hashlib
from typing import Any

import jwt
import pytest

from assay.authority.keys import base64url, new_key, public_jwk, thumbprint
from assay.lab.client.auth.dpop import InvalidProof, verify_proof

URL, MOMENT = "http://localhost:1/mcp", 1_800_000_000.0
KEY, OTHER = new_key("ES256"), new_key("ES256")
JWK = public_jwk("ES256", KEY.private)
TOKEN = jwt.encode({"cnf": {"jkt": thumbprint(JWK)}}, KEY.private, "ES256")
PRIVATE = {**JWK, "d": "secret"}


def hashed(token: str) -> str:
    return base64url(hashlib.sha256(token.encode()).digest())


def proof(header: dict[str, Any] | None = None, signer: Any = KEY.private, **changes: Any) -> str:
    claims = {"jti": "one", "htm": "POST", "htu": URL, "iat": MOMENT, "ath": hashed(TOKEN), **changes}
    said = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(said, signer, "ES256", headers={"typ": "dpop+jwt", "jwk": JWK, **(header or {})})


def problem(*proofs: str, token: str = TOKEN, moment: float | None = MOMENT) -> str:
    with pytest.raises(InvalidProof) as raised:
        verify_proof(proofs, token, "POST", URL, moment)
    return str(raised.value)


def test_a_good_proof_gives_its_claims() -> None:
    assert verify_proof([proof(nonce="n")], TOKEN, "POST", URL, MOMENT)["nonce"] == "n"


@pytest.mark.parametrize("htu", ["HTTP://LOCALHOST:1/mcp", "http://localhost:1/mcp"])
def test_an_address_may_be_written_in_more_than_one_way(htu: str) -> None:
    assert verify_proof([proof(htu=htu)], TOKEN, "POST", URL, MOMENT)["htu"] == htu


def test_where_nobody_knows_the_time_any_will_do() -> None:
    assert verify_proof([proof(iat=1)], TOKEN, "POST", URL, None)["iat"] == 1


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (proof({"typ": "JWT"}), "typ"),
        (proof({"jwk": PRIVATE}), "public key"),
        (proof({"jwk": "none"}), "public key"),
        (proof({"jwk": {"kty": "EC"}}), "not a JWT"),
        (proof({"jwk": {**JWK, "x": "AA"}}), "not a JWT"),
        (proof(signer=OTHER.private), "not a JWT"),
        (proof(htm="GET"), "htm"),
        (proof(htm=None), "htm"),
        (proof(htu="http://localhost:1/token"), "htu"),
        (proof(htu=f"{URL}?a=b"), "htu"),
        (proof(htu=["a"]), "htu"),
        (proof(htu="http://localhost:99999/mcp"), "htu"),
        (proof(jti=None), "jti"),
        (proof(jti=7), "jti"),
        (proof(iat=None), "iat"),
        (proof(iat="now"), "iat"),
        (proof(iat=True), "iat"),
        (proof(iat=MOMENT - 301), "iat"),
        (proof(iat=MOMENT + 301), "iat"),
        (proof(iat=10**400), "iat"),
        (proof(ath=None), "ath"),
        (proof(ath=hashed("another")), "ath"),
        (
            jwt.encode({"jti": "one"}, "k" * 32, "HS256", headers={"typ": "dpop+jwt", "jwk": JWK}),
            "asymmetric",
        ),
        ("", "not a JWT"),
        ("a.b.c", "not a JWT"),
        ("\u2026", "not a JWT"),
    ],
)
def test_a_proof_that_is_not_good_is_told_why(made: str, said: str) -> None:
    assert said in problem(made)


def test_there_is_one_proof_and_no_other() -> None:
    assert problem() == "no proof"
    assert problem(proof(), proof(jti="two")) == "more than one proof"


def test_the_token_is_bound_to_the_key_of_the_proof() -> None:
    bound_elsewhere = jwt.encode({"cnf": {"jkt": "another"}}, KEY.private, "ES256")
    for token in (bound_elsewhere, "opaque"):
        assert "not bound" in problem(proof(ath=hashed(token)), token=token)
