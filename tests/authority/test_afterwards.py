"""Introspection and revocation: who learns what, and who takes back what."""

import pytest

from assay.authority.record import Client, digest
from tests.authority.walk import CONFIDENTIAL, PUBLIC, REDIRECT, RESOURCE, Walk, error_of

STRANGER = Client(
    id="stranger", secret=digest("other"), methods=("client_secret_basic",), redirects=(REDIRECT,)
)


def walk() -> Walk:
    return Walk(clients=(PUBLIC, CONFIDENTIAL, STRANGER))


async def test_a_trusted_client_learns_everything_about_a_token() -> None:
    given = walk()
    tokens = await given.tokens()
    told = await given.introspect(tokens["access_token"])
    assert told.pop("jti")
    assert told == {
        "active": True,
        "iss": given.authority.issuer,
        "sub": "developer",
        "username": "developer",
        "aud": RESOURCE,
        "client_id": "public",
        "iat": 1_800_000_000,
        "exp": 1_800_000_300,
        "scope": "read",
        "token_type": "Bearer",
    }
    assert (await given.introspect(tokens["refresh_token"]))["token_type"] == "refresh_token"


async def test_whoever_is_not_known_learns_nothing() -> None:
    given = walk()
    token = (await given.tokens())["access_token"]
    for sent in ({"client_id": "public"}, {}, {"client_id": "confidential", "client_secret": "wrong"}):
        response = await given.http.post("/introspect", data={"token": token, **sent})
        assert error_of(response) == "401 invalid_client"


async def test_a_client_that_is_not_trusted_learns_nothing_of_others() -> None:
    given = walk()
    token = (await given.tokens())["access_token"]
    response = await given.http.post("/introspect", data={"token": token}, auth=("stranger", "other"))
    assert response.json() == {"active": False}


@pytest.mark.parametrize("token", ["unknown", "a.b.c", "x" * 5000])
async def test_a_token_of_nobody_is_not_active(token: str) -> None:
    assert await walk().introspect(token) == {"active": False}


async def test_a_used_refresh_token_is_not_active() -> None:
    given = walk()
    tokens = await given.tokens()
    await given.refresh(tokens["refresh_token"])
    assert await given.introspect(tokens["refresh_token"]) == {"active": False}


async def test_an_access_token_is_taken_back_alone() -> None:
    given = walk()
    tokens = await given.tokens()
    form = {"token": tokens["access_token"], "client_id": "public"}
    assert (await given.http.post("/revoke", data=form)).status_code == 200
    assert await given.introspect(tokens["access_token"]) == {"active": False}
    assert (await given.refresh(tokens["refresh_token"])).status_code == 200


async def test_nobody_takes_back_the_tokens_of_others() -> None:
    given = walk()
    tokens = await given.tokens()
    for name in ("access_token", "refresh_token"):
        form = {"token": tokens[name]}
        assert (await given.http.post("/revoke", data=form, auth=("stranger", "other"))).status_code == 200
        assert (await given.introspect(tokens[name]))["active"]


async def test_taking_back_what_is_unknown_is_no_mistake_but_taking_back_nothing_is() -> None:
    given = walk()
    assert (await given.http.post("/revoke", data={"token": "x", "client_id": "public"})).status_code == 200
    assert error_of(await given.http.post("/revoke", data={"client_id": "public"})) == "400 invalid_request"
