"""Tokens that are bound to a key: proofs at the token endpoint."""

from typing import Any

import httpx2
import jwt
import pytest

from assay.authority.dpop import same_address
from assay.authority.keys import ALGORITHMS, base64url, new_key, thumbprint
from tests.authority.walk import ISSUER, Walk, error_of, proof

KEY = new_key("ES256")
SECRET = jwt.encode(
    {"jti": "1", "htm": "POST", "htu": f"{ISSUER}/token", "iat": 1_800_000_000},
    "k" * 32,
    headers={"typ": "dpop+jwt", "jwk": KEY.jwk()},
)
DEEP = base64url(b'{"typ":"dpop+jwt","alg":"ES256","jwk":' + b"[" * 5000)
BAD: list[str] = [
    "abc",
    "\xe9.\xe9.\xe9",
    f"{DEEP}.{DEEP}.{DEEP}",
    proof(KEY, header={"jwk": {**KEY.jwk(), "x": 5}}),
    proof(KEY, header={"jwk": {**KEY.jwk(), "crv": []}}),
    proof(KEY, header={"jwk": {"kty": []}}),
    proof(KEY, iat=float("nan")),
    proof(KEY, iat=10**400),
    proof(KEY, htu=5),
    proof(KEY, htu="http://[::1/token"),
    "a" * 20_000,
    SECRET,
    proof(KEY, header={"typ": "JWT"}),
    proof(KEY, header={"jwk": None}),
    proof(KEY, header={"jwk": "text"}),
    proof(KEY, header={"jwk": {"kty": "EC"}}),
    proof(KEY, header={"jwk": {"kty": "oct", "k": "c2VjcmV0"}}),
    proof(KEY, header={"jwk": {**KEY.jwk(), "d": "c2VjcmV0"}}),
    proof(KEY, header={"jwk": new_key("ES256").jwk()}),
    proof(KEY, jti=None),
    proof(KEY, jti=""),
    proof(KEY, htm="GET"),
    proof(KEY, htm=None),
    proof(KEY, htu=f"{ISSUER}/authorize"),
    proof(KEY, htu="https://other.example/token"),
    proof(KEY, htu=f"{ISSUER}/token?a=b"),
    proof(KEY, htu=None),
    proof(KEY, iat=None),
    proof(KEY, iat=True),
    proof(KEY, iat=1_800_000_000 - 61),
    proof(KEY, iat=1_800_000_000 + 61),
]


async def credentials(walk: Walk, *proofs: str) -> httpx2.Response:
    form = {"grant_type": "client_credentials", "client_id": "confidential", "client_secret": "s3cret"}
    return await walk.http.post(
        "/token", data=form, headers=[(b"dpop", text.encode("latin-1")) for text in proofs]
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_a_token_is_bound_to_the_key_that_was_proved(algorithm: str) -> None:
    walk, key = Walk(), new_key(algorithm)
    given = (await credentials(walk, proof(key))).json()
    told = await walk.introspect(given["access_token"])
    assert given["token_type"] == told["token_type"] == "DPoP"
    assert told["cnf"] == {"jkt": thumbprint(key.jwk())}


@pytest.mark.parametrize("text", BAD)
async def test_a_proof_that_proves_nothing_for_this_request_is_refused(text: str) -> None:
    assert error_of(await credentials(Walk(), text)) == "400 invalid_dpop_proof"


async def test_two_proofs_are_one_too_many() -> None:
    response = await credentials(Walk(), proof(KEY), proof(KEY, jti="2"))
    assert error_of(response) == "400 invalid_dpop_proof"


async def test_a_proof_counts_once() -> None:
    walk = Walk()
    assert (await credentials(walk, proof(KEY))).status_code == 200
    assert error_of(await credentials(walk, proof(KEY))) == "400 invalid_dpop_proof"
    assert (await credentials(walk, proof(KEY, jti="2"))).status_code == 200


async def test_half_a_character_is_a_name_and_no_nonce() -> None:
    walk = Walk()
    assert (await credentials(walk, proof(KEY, jti="\ud800"))).status_code == 200
    assert error_of(await credentials(walk, proof(KEY, jti="\ud800"))) == "400 invalid_dpop_proof"
    assert error_of(await credentials(walk, proof(KEY, nonce="\ud800"))) == "400 use_dpop_nonce"


async def test_where_a_nonce_is_wanted_the_client_is_given_one() -> None:
    walk = Walk(dpop_nonce=True)
    asked = await credentials(walk, proof(KEY))
    assert error_of(asked) == "400 use_dpop_nonce"
    nonce = asked.headers["dpop-nonce"]
    good = await credentials(walk, proof(KEY, nonce=nonce, jti="2"))
    assert (good.status_code, good.headers["dpop-nonce"]) == (200, nonce)
    for wrong in ("other", 5, "é"):
        refused = await credentials(walk, proof(KEY, nonce=wrong, jti="3"))
        assert error_of(refused) == "400 use_dpop_nonce"
    walk.clock.now += 300
    late = proof(KEY, nonce=nonce, jti="4", iat=int(walk.clock()))
    assert error_of(await credentials(walk, late)) == "400 use_dpop_nonce"


async def exchange(walk: Walk, code: str, **changes: Any) -> httpx2.Response:
    return await walk.exchange(code, headers={"dpop": proof(KEY, **changes)})


async def test_a_code_can_be_bound_to_a_key_beforehand() -> None:
    walk = Walk()
    code = await walk.code(dpop_jkt=thumbprint(KEY.jwk()))
    stolen = await walk.exchange(code, headers={"dpop": proof()})
    assert error_of(stolen) == "400 invalid_dpop_proof"
    assert error_of(await walk.exchange(code)) == "400 invalid_dpop_proof"
    assert (await exchange(walk, code)).status_code == 200


async def test_the_refresh_token_of_a_public_client_works_with_its_key_only() -> None:
    walk = Walk()
    token = (await exchange(walk, await walk.code())).json()["refresh_token"]
    assert error_of(await walk.refresh(token)) == "400 invalid_dpop_proof"
    assert error_of(await walk.refresh(token, headers={"dpop": proof()})) == "400 invalid_dpop_proof"
    good = await walk.refresh(token, headers={"dpop": proof(KEY, jti="2")})
    assert (good.status_code, good.json()["token_type"]) == (200, "DPoP")


@pytest.mark.parametrize(
    ("given", "same"),
    [
        ("https://a.example/token", True),
        ("HTTPS://A.example:443/token", True),
        ("https://a.example/token/", False),
        ("https://a.example:444/token", False),
        ("http://a.example/token", False),
        ("https://a.example/token?x=1", False),
        ("https://a.example/token#x", False),
    ],
)
def test_an_address_may_be_written_in_several_ways(given: str, same: bool) -> None:
    assert same_address(given, "https://a.example/token") is same
