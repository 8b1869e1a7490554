"""DPoP proofs at the token endpoint."""

from typing import Any

import httpx2
import jwt
import pytest

from assay.authority.dpop import same_address
from assay.authority.keys import ALGORITHMS, base64url, new_key, thumbprint
from tests.authority.flow import ISSUER, OAuthFlow, error_of, proof

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


async def credentials(flow: OAuthFlow, *proofs: str) -> httpx2.Response:
    form = {"grant_type": "client_credentials", "client_id": "confidential", "client_secret": "s3cret"}
    return await flow.http.post(
        "/token", data=form, headers=[(b"dpop", text.encode("latin-1")) for text in proofs]
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_a_token_is_bound_to_the_key_that_was_proved(algorithm: str) -> None:
    flow, key = OAuthFlow(), new_key(algorithm)
    tokens = (await credentials(flow, proof(key))).json()
    introspected = await flow.introspect(tokens["access_token"])
    assert tokens["token_type"] == introspected["token_type"] == "DPoP"
    assert introspected["cnf"] == {"jkt": thumbprint(key.jwk())}


@pytest.mark.parametrize("text", BAD)
async def test_a_proof_that_proves_nothing_for_this_request_is_refused(text: str) -> None:
    assert error_of(await credentials(OAuthFlow(), text)) == "400 invalid_dpop_proof"


async def test_two_proofs_are_one_too_many() -> None:
    response = await credentials(OAuthFlow(), proof(KEY), proof(KEY, jti="2"))
    assert error_of(response) == "400 invalid_dpop_proof"


async def test_a_proof_counts_once() -> None:
    flow = OAuthFlow()
    assert (await credentials(flow, proof(KEY))).status_code == 200
    assert error_of(await credentials(flow, proof(KEY))) == "400 invalid_dpop_proof"
    assert (await credentials(flow, proof(KEY, jti="2"))).status_code == 200


async def test_half_a_character_is_a_name_and_no_nonce() -> None:
    flow = OAuthFlow()
    assert (await credentials(flow, proof(KEY, jti="\ud800"))).status_code == 200
    assert error_of(await credentials(flow, proof(KEY, jti="\ud800"))) == "400 invalid_dpop_proof"
    assert error_of(await credentials(flow, proof(KEY, nonce="\ud800"))) == "400 use_dpop_nonce"


async def test_where_a_nonce_is_wanted_the_client_is_given_one() -> None:
    flow = OAuthFlow(dpop_nonce=True)
    response = await credentials(flow, proof(KEY))
    assert error_of(response) == "400 use_dpop_nonce"
    nonce = response.headers["dpop-nonce"]
    good = await credentials(flow, proof(KEY, nonce=nonce, jti="2"))
    assert (good.status_code, good.headers["dpop-nonce"]) == (200, nonce)
    for wrong in ("other", 5, "é"):
        refused = await credentials(flow, proof(KEY, nonce=wrong, jti="3"))
        assert error_of(refused) == "400 use_dpop_nonce"
    flow.clock.now += 300
    late = proof(KEY, nonce=nonce, jti="4", iat=int(flow.clock()))
    assert error_of(await credentials(flow, late)) == "400 use_dpop_nonce"


async def exchange(flow: OAuthFlow, code: str, **changes: Any) -> httpx2.Response:
    return await flow.exchange(code, headers={"dpop": proof(KEY, **changes)})


async def test_a_code_can_be_bound_to_a_key_beforehand() -> None:
    flow = OAuthFlow()
    code = await flow.code(dpop_jkt=thumbprint(KEY.jwk()))
    stolen = await flow.exchange(code, headers={"dpop": proof()})
    assert error_of(stolen) == "400 invalid_dpop_proof"
    assert error_of(await flow.exchange(code)) == "400 invalid_dpop_proof"
    assert (await exchange(flow, code)).status_code == 200


async def test_the_refresh_token_of_a_public_client_works_with_its_key_only() -> None:
    flow = OAuthFlow()
    token = (await exchange(flow, await flow.code())).json()["refresh_token"]
    assert error_of(await flow.refresh(token)) == "400 invalid_dpop_proof"
    assert error_of(await flow.refresh(token, headers={"dpop": proof()})) == "400 invalid_dpop_proof"
    good = await flow.refresh(token, headers={"dpop": proof(KEY, jti="2")})
    assert (good.status_code, good.json()["token_type"]) == (200, "DPoP")


@pytest.mark.parametrize(
    ("htu", "same"),
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
def test_an_address_may_be_written_in_several_ways(htu: str, same: bool) -> None:
    assert same_address(htu, "https://a.example/token") is same
