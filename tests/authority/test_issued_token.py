"""Introspection and revocation, and which clients may use them."""

import pytest

from assay.authority.record import Client, digest
from tests.authority.flow import CONFIDENTIAL, PUBLIC, REDIRECT, RESOURCE, OAuthFlow, error_of

STRANGER = Client(
    id="stranger", secret=digest("other"), methods=("client_secret_basic",), redirects=(REDIRECT,)
)


def make_flow() -> OAuthFlow:
    return OAuthFlow(clients=(PUBLIC, CONFIDENTIAL, STRANGER))


async def test_a_trusted_client_learns_everything_about_a_token() -> None:
    flow = make_flow()
    tokens = await flow.tokens()
    introspected = await flow.introspect(tokens["access_token"])
    assert introspected.pop("jti")
    assert introspected == {
        "active": True,
        "iss": flow.authority.issuer,
        "sub": "developer",
        "username": "developer",
        "aud": RESOURCE,
        "client_id": "public",
        "iat": 1_800_000_000,
        "exp": 1_800_000_300,
        "scope": "read",
        "token_type": "Bearer",
    }
    assert (await flow.introspect(tokens["refresh_token"]))["token_type"] == "refresh_token"


async def test_unauthenticated_clients_cannot_introspect() -> None:
    flow = make_flow()
    token = (await flow.tokens())["access_token"]
    for sent in ({"client_id": "public"}, {}, {"client_id": "confidential", "client_secret": "wrong"}):
        response = await flow.http.post("/introspect", data={"token": token, **sent})
        assert error_of(response) == "401 invalid_client"


async def test_a_client_that_is_not_trusted_learns_nothing_of_others() -> None:
    flow = make_flow()
    token = (await flow.tokens())["access_token"]
    response = await flow.http.post("/introspect", data={"token": token}, auth=("stranger", "other"))
    assert response.json() == {"active": False}


@pytest.mark.parametrize("token", ["unknown", "a.b.c", "x" * 5000])
async def test_an_unknown_token_is_not_active(token: str) -> None:
    assert await make_flow().introspect(token) == {"active": False}


async def test_a_used_refresh_token_is_not_active() -> None:
    flow = make_flow()
    tokens = await flow.tokens()
    await flow.refresh(tokens["refresh_token"])
    assert await flow.introspect(tokens["refresh_token"]) == {"active": False}


async def test_revoking_an_access_token_keeps_the_grant() -> None:
    flow = make_flow()
    tokens = await flow.tokens()
    form = {"token": tokens["access_token"], "client_id": "public"}
    assert (await flow.http.post("/revoke", data=form)).status_code == 200
    assert await flow.introspect(tokens["access_token"]) == {"active": False}
    assert (await flow.refresh(tokens["refresh_token"])).status_code == 200


async def test_a_client_cannot_revoke_tokens_of_others() -> None:
    flow = make_flow()
    tokens = await flow.tokens()
    for name in ("access_token", "refresh_token"):
        form = {"token": tokens[name]}
        assert (await flow.http.post("/revoke", data=form, auth=("stranger", "other"))).status_code == 200
        assert (await flow.introspect(tokens[name]))["active"]


async def test_revocation_ignores_unknown_tokens_but_requires_one() -> None:
    flow = make_flow()
    assert (await flow.http.post("/revoke", data={"token": "x", "client_id": "public"})).status_code == 200
    assert error_of(await flow.http.post("/revoke", data={"client_id": "public"})) == "400 invalid_request"
