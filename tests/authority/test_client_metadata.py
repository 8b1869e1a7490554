"""Registration: which clients are accepted, and the response to them."""

import base64
from typing import Any

import pytest

from tests.authority.flow import REDIRECT, OAuthFlow, error_of, present

PLAIN: dict[str, Any] = {"redirect_uris": [REDIRECT], "client_name": "Plain"}
BAD_METADATA: list[Any] = [
    [],
    "text",
    {**PLAIN, "client_name": 5},
    {**PLAIN, "client_name": "n" * 201},
    {**PLAIN, "grant_types": []},
    {**PLAIN, "grant_types": ["implicit"]},
    {**PLAIN, "response_types": ["token"]},
    {**PLAIN, "token_endpoint_auth_method": "tls_client_auth"},
    {**PLAIN, "token_endpoint_auth_method": "private_key_jwt"},
    {
        **PLAIN,
        "token_endpoint_auth_method": "private_key_jwt",
        "jwks": {"keys": []},
        "jwks_uri": "https://a.example/k",
    },
    {**PLAIN, "token_endpoint_auth_method": "none", "grant_types": ["client_credentials"]},
    {**PLAIN, "application_type": "desktop"},
    {**PLAIN, "scope": 'a "b"'},
    {**PLAIN, "scope": " ".join(f"s{number}" for number in range(33))},
    {**PLAIN, "redirect_uris": [f"{REDIRECT}/{number}" for number in range(33)]},
    {**PLAIN, "redirect_uris": ["https://a.example/" + "a" * 2000]},
]
BAD_REDIRECTS: list[dict[str, Any]] = [
    {"client_name": "none"},
    {"redirect_uris": ["/relative"]},
    {"redirect_uris": ["http://app.example/callback"]},
    {"redirect_uris": ["https://app.example/callback#part"]},
    {"redirect_uris": ["https://user@app.example/callback"]},
    {"redirect_uris": ["https:///callback"]},
    {"redirect_uris": ["https://app.example:port/"]},
    {"redirect_uris": ["https://[::1/callback"]},
    {"redirect_uris": ["https://app.example/a b"]},
    {"redirect_uris": ["https://app.example/\u2192"]},
    {"redirect_uris": ["https://app.example;script-src/"]},
    {"redirect_uris": ["https://app.example;script-src[::1]/"]},
    {"redirect_uris": ["http://app.example[::1]/callback"]},
    {"redirect_uris": ["https://app.example/\r\nset-cookie:a=b"]},
    {"redirect_uris": ["javascript:alert(1)"]},
    {"redirect_uris": ["data:text/html,x"]},
    {"redirect_uris": [REDIRECT, "file:///etc/passwd"]},
    {"redirect_uris": [REDIRECT], "application_type": "web"},
    {"redirect_uris": ["com.app:/callback"], "application_type": "web"},
]
GOOD: list[dict[str, Any]] = [
    PLAIN,
    {**PLAIN, "token_endpoint_auth_method": "none", "application_type": "native"},
    {**PLAIN, "redirect_uris": ["https://app.example/callback"], "application_type": "web"},
    {**PLAIN, "redirect_uris": ["com.app:/callback", "http://localhost:8/x", "http://[::1]/x"]},
    {**PLAIN, "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"]},
    {"grant_types": ["client_credentials"], "client_name": "Machine"},
    {**PLAIN, "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "https://a.example/keys"},
    {**PLAIN, "unknown_member": {"of": "somebody"}},
]


@pytest.mark.parametrize("described", GOOD)
async def test_a_client_is_taken_in_and_told_what_it_is(described: dict[str, Any]) -> None:
    response = await OAuthFlow().http.post("/register", json=described)
    registered = response.json()
    assert response.status_code == 201
    assert response.headers["cache-control"] == "no-store"
    assert {
        name: registered[name] for name in described if name != "unknown_member"
    }.items() <= described.items()
    method = registered["token_endpoint_auth_method"]
    assert ("client_secret" in registered) is method.startswith("client_secret")
    assert ("client_secret_expires_at" in registered) is ("client_secret" in registered)


@pytest.mark.parametrize("described", BAD_METADATA)
async def test_a_client_that_cannot_be_is_refused(described: Any) -> None:
    assert error_of(await OAuthFlow().http.post("/register", json=described)) == "400 invalid_client_metadata"


@pytest.mark.parametrize("described", BAD_REDIRECTS)
async def test_a_redirect_address_that_is_not_safe_is_refused(described: dict[str, Any]) -> None:
    assert error_of(await OAuthFlow().http.post("/register", json=described)) == "400 invalid_redirect_uri"


async def test_a_registered_secret_works_and_no_other() -> None:
    flow = OAuthFlow()
    registered = (await flow.http.post("/register", json={"grant_types": ["client_credentials"]})).json()
    form = {"grant_type": "client_credentials"}
    good = await flow.http.post(
        "/token", data=form, auth=(registered["client_id"], registered["client_secret"])
    )
    bad = await flow.http.post("/token", data=form, auth=(registered["client_id"], "wrong"))
    assert (good.status_code, error_of(bad)) == (200, "401 invalid_client")


@pytest.mark.parametrize("requested", ["none", "client_secret_basic", "client_secret_post", None])
@pytest.mark.parametrize("offered", ["none", "client_secret_basic", "client_secret_post"])
async def test_a_client_is_told_the_one_method_that_there_is_and_no_other_works(
    offered: str, requested: str | None
) -> None:
    flow = OAuthFlow(methods=(offered,))
    registered = (
        await flow.http.post("/register", json=present({**PLAIN, "token_endpoint_auth_method": requested}))
    ).json()
    assert registered["token_endpoint_auth_method"] == offered
    client, secret = registered["client_id"], registered.get("client_secret", "made up")
    basic = base64.b64encode(f"{client}:{secret}".encode()).decode()
    ways: dict[str, dict[str, Any]] = {
        "none": {"client_id": client},
        "client_secret_basic": {"headers": {"authorization": f"Basic {basic}"}, "client_id": client},
        "client_secret_post": {"client_id": client, "client_secret": secret},
    }
    for way, form in ways.items():
        response = await flow.exchange(await flow.code(client_id=client), **form)
        assert response.status_code == (200 if way == offered else 401), way


async def test_grants_that_are_not_offered_are_left_out_and_there_must_be_one() -> None:
    flow = OAuthFlow(grants=("authorization_code",))
    both = {
        **PLAIN,
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "none",
    }
    registered = (await flow.http.post("/register", json=both)).json()
    assert registered["grant_types"] == ["authorization_code"]
    code = await flow.code(client_id=registered["client_id"], scope="read offline_access")
    assert "refresh_token" not in (await flow.exchange(code, client_id=registered["client_id"])).json()
    none = await flow.http.post("/register", json={"grant_types": ["client_credentials"]})
    assert error_of(none) == "400 invalid_client_metadata"


async def test_registration_can_be_switched_off() -> None:
    flow = OAuthFlow(registration=False)
    assert error_of(await flow.http.post("/register", json=PLAIN)) == "403 access_denied"
    known = (await flow.http.get("/.well-known/oauth-authorization-server")).json()
    assert "registration_endpoint" not in known


@pytest.mark.parametrize(
    "sent", [{"content": b"{", "headers": {"content-type": "application/json"}}, {"data": {"a": "b"}}]
)
async def test_what_is_no_json_is_refused(sent: dict[str, Any]) -> None:
    assert error_of(await OAuthFlow().http.post("/register", **sent)) == "400 invalid_request"
