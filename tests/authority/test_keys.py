"""Signing keys: which are published, and for how long."""

from pathlib import Path

import jwt
import pytest

from assay.authority.authority import LEEWAY
from assay.authority.keys import ALGORITHMS, thumbprint
from assay.authority.sqlite import SqliteStore
from tests.authority.flow import RESOURCE, ManualClock, OAuthFlow


def test_the_thumbprint_is_that_of_the_standard() -> None:
    """The example of RFC 7638, 3.1."""
    modulus = (
        "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCi"
        "FV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb"
        "9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls"
        "1jF44-csFCur-kEgU8awapJzKnqDKgw"
    )
    key = {"kty": "RSA", "n": modulus, "e": "AQAB", "alg": "RS256", "kid": "2011-04-29"}
    assert thumbprint(key) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_tokens_of_each_algorithm_are_verified_with_what_is_published(algorithm: str) -> None:
    flow = OAuthFlow(algorithm=algorithm)
    (jwk,) = flow.authority.jwks()["keys"]
    assert jwk.keys() & {"d", "p", "q"} == set()
    options = {"verify_exp": False, "verify_iat": False}
    token = flow.authority.mint(audience=RESOURCE)
    assert jwt.decode(token, jwt.PyJWK(jwk), audience=RESOURCE, options=options)["sub"] == "developer"


def test_a_retired_key_is_published_until_its_last_token_has_expired() -> None:
    flow = OAuthFlow()
    before = flow.authority.mint(audience=RESOURCE)
    flow.authority.rotate()
    after = flow.authority.mint(audience=RESOURCE)
    kids = [jwt.get_unverified_header(token)["kid"] for token in (before, after)]
    assert kids[0] != kids[1]
    assert [key["kid"] for key in flow.authority.jwks()["keys"]] == kids
    flow.clock.now += flow.authority.settings.lifetimes.access
    assert kids[0] in {key["kid"] for key in flow.authority.jwks()["keys"]}
    flow.clock.now += LEEWAY
    assert [key["kid"] for key in flow.authority.jwks()["keys"]] == kids[1:]


async def test_keys_clients_and_tokens_outlive_the_process_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "authority.db"
    first = OAuthFlow(store=SqliteStore(path, now=ManualClock()))
    tokens = await first.tokens()
    first.authority.store.close()
    second = OAuthFlow(store=SqliteStore(path, now=ManualClock()))
    assert second.claims(tokens["access_token"])["sub"] == "developer"
    assert (await second.refresh(tokens["refresh_token"])).status_code == 200
    second.authority.store.close()


def test_the_file_holds_no_token_and_no_secret_of_a_client(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "authority.db")
    flow = OAuthFlow(store=store)
    token = flow.authority.mint(audience=RESOURCE)
    store.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert token.encode() not in stored
    assert b"s3cret" not in stored
