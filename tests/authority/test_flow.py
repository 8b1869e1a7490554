"""A complete flow of a client that only knows the issuer, with a person who consents."""

import httpx2
import pytest

from tests.authority.flow import (
    CHALLENGE,
    ISSUER,
    REDIRECT,
    RESOURCE,
    VERIFIER,
    OAuthFlow,
    answered,
    error_of,
    inputs_of,
)

DESCRIPTION = {
    "client_name": "Walker",
    "redirect_uris": [REDIRECT],
    "token_endpoint_auth_method": "none",
    "grant_types": ["authorization_code", "refresh_token"],
    "application_type": "native",
}
WISH = {
    "response_type": "code",
    "redirect_uri": REDIRECT,
    "scope": "read write",
    "state": "s",
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
    "resource": RESOURCE,
}


@pytest.mark.parametrize("issuer", [ISSUER, f"{ISSUER}/tenant/1"])
async def test_from_metadata_to_registration_consent_tokens_refresh_reuse_and_revocation(issuer: str) -> None:
    flow = OAuthFlow(issuer=issuer, auto_approve=False, scopes=("read", "write"))
    path = issuer.removeprefix(ISSUER)
    known = (await flow.http.get(f"/.well-known/oauth-authorization-server{path}")).json()
    assert known["issuer"] == issuer

    registered = await flow.http.post(known["registration_endpoint"], json=DESCRIPTION)
    assert registered.status_code == 201
    client_id = registered.json()["client_id"]
    assert "client_secret" not in registered.json()

    wish = {**WISH, "client_id": client_id}
    page = await flow.http.get(known["authorization_endpoint"], params=wish)
    assert "Walker" in page.text
    clicked = await click(flow, page)
    back = answered(clicked)
    assert (back["state"], back["iss"]) == ("s", issuer)

    exchange = {"grant_type": "authorization_code", "code": back["code"], "code_verifier": VERIFIER}
    first = await flow.http.post(known["token_endpoint"], data={**exchange, "client_id": client_id})
    assert first.headers["cache-control"] == "no-store"
    claims = flow.claims(first.json()["access_token"])
    assert (claims["sub"], claims["scope"], claims["client_id"]) == ("developer", "read write", client_id)

    second = await flow.refresh(first.json()["refresh_token"], client_id=client_id)
    assert second.status_code == 200
    assert (await flow.introspect(second.json()["access_token"]))["active"]

    reused = await flow.refresh(first.json()["refresh_token"], client_id=client_id)
    assert error_of(reused) == "400 invalid_grant"
    for response in (first, second):
        assert await flow.introspect(response.json()["access_token"]) == {"active": False}
    late = await flow.refresh(second.json()["refresh_token"], client_id=client_id)
    assert error_of(late) == "400 invalid_grant"


async def click(flow: OAuthFlow, page: httpx2.Response) -> httpx2.Response:
    fields: dict[str, list[str]] = {"decision": ["allow"]}
    for name, value in inputs_of(page.text):
        fields.setdefault(name, []).append(value)
    return await flow.http.post(flow.url("/consent"), data=fields)


async def test_a_token_that_its_client_revokes_is_no_longer_active() -> None:
    flow = OAuthFlow()
    tokens = await flow.tokens()
    revoked = {"token": tokens["refresh_token"], "client_id": "public"}
    assert (await flow.http.post("/revoke", data=revoked)).status_code == 200
    assert await flow.introspect(tokens["access_token"]) == {"active": False}
    assert error_of(await flow.refresh(tokens["refresh_token"])) == "400 invalid_grant"
