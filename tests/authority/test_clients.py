"""Clients whose id is the URL of a document about them."""

import json
from typing import Any

import pytest

from assay.authority.clients import is_document_address
from assay.authority.fetch import Fetched, NotFetched
from assay.authority.keys import new_key
from tests.authority.flow import REDIRECT, OAuthFlow
from tests.driving.hosts import on_assay

ID = "https://app.example/client.json"
DOCUMENT: dict[str, Any] = {"client_id": ID, "client_name": "App", "redirect_uris": [REDIRECT]}


class Web:
    """One document, and how often it was requested."""

    def __init__(self, document: dict[str, Any] | None = None, lifetime: float | None = None) -> None:
        self.document = DOCUMENT if document is None else document
        self.lifetime = lifetime
        self.requests = 0

    async def __call__(self, url: str) -> Fetched:
        self.requests += 1
        if url != ID:
            raise NotFetched("the answer is 404")
        return Fetched(self.document, self.lifetime)


async def test_a_client_needs_no_registration_where_its_document_is() -> None:
    web = Web()
    flow = OAuthFlow(fetch=web)
    code = await flow.code(client_id=ID)
    response = await flow.exchange(code, client_id=ID)
    assert flow.claims(response.json()["access_token"])["client_id"] == ID
    assert web.requests == 1


async def test_a_document_on_this_machine_is_really_fetched_where_that_is_allowed() -> None:
    async def site(scope: Any, receive: Any, send: Any) -> None:
        host = dict(scope["headers"])[b"host"].decode()
        document = {**DOCUMENT, "client_id": f"http://{host}{scope['path']}"}
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(document).encode()})

    site.close = quietly  # type: ignore[attr-defined]
    async with on_assay(site) as port:
        client_id = f"http://127.0.0.1:{port}/client.json"
        assert await OAuthFlow(loopback_documents=True).code(client_id=client_id)
        assert (await OAuthFlow().authorize(client_id=client_id)).status_code == 400


async def quietly() -> None:
    """Nothing is open between requests."""


@pytest.mark.parametrize(("lifetime", "requests"), [(None, 1), (60.0, 1), (0.0, 2), (5.0, 2)])
async def test_a_document_is_kept_as_long_as_its_sender_says(lifetime: float | None, requests: int) -> None:
    web = Web(lifetime=lifetime)
    flow = OAuthFlow(fetch=web)
    await flow.code(client_id=ID)
    flow.clock.now += 10
    await flow.code(client_id=ID)
    assert web.requests == requests


@pytest.mark.parametrize(
    "document",
    [
        {},
        {**DOCUMENT, "client_id": "https://app.example/other.json"},
        {**DOCUMENT, "client_id": f"{ID}/"},
        {**DOCUMENT, "client_name": ""},
        {**DOCUMENT, "redirect_uris": []},
        {**DOCUMENT, "redirect_uris": ["https://attacker.example/"]},
        {**DOCUMENT, "redirect_uris": REDIRECT},
        {**DOCUMENT, "redirect_uris": ["http://app.example/"]},
        {**DOCUMENT, "token_endpoint_auth_method": "client_secret_basic"},
        {**DOCUMENT, "client_secret": "x"},
        {**DOCUMENT, "token_endpoint_auth_method": "private_key_jwt"},
    ],
)
async def test_a_document_that_does_not_describe_its_client_is_refused(document: dict[str, Any]) -> None:
    response = await OAuthFlow(fetch=Web(document)).authorize(client_id=ID)
    assert response.status_code == 400
    assert "location" not in response.headers


async def test_a_document_that_the_settings_have_is_not_fetched() -> None:
    web = Web()
    address = "https://conformance-test.local/client-metadata.json"
    flow = OAuthFlow(fetch=web, published={address: {**DOCUMENT, "client_id": address}})
    response = await flow.exchange(await flow.code(client_id=address), client_id=address)
    assert flow.claims(response.json()["access_token"])["client_id"] == address
    assert web.requests == 0


async def test_a_document_cannot_be_told_to_use_another_method() -> None:
    response = await OAuthFlow(fetch=Web(), methods=("client_secret_basic",)).authorize(client_id=ID)
    assert response.status_code == 400
    assert "token_endpoint_auth_method must be one of client_secret_basic" in response.text


async def test_a_document_that_cannot_be_fetched_is_no_client() -> None:
    response = await OAuthFlow(fetch=Web()).authorize(client_id="https://app.example/missing.json")
    assert response.status_code == 400
    assert "the answer is 404" in response.text


async def test_nothing_is_fetched_where_documents_are_switched_off() -> None:
    web = Web()
    assert (await OAuthFlow(fetch=web, documents=False).authorize(client_id=ID)).status_code == 400
    assert web.requests == 0


async def test_a_client_with_a_document_may_sign_with_its_own_key() -> None:
    key = new_key("ES256")
    signing = {"token_endpoint_auth_method": "private_key_jwt", "jwks": {"keys": [key.jwk()]}}
    flow = OAuthFlow(fetch=Web({**DOCUMENT, **signing}))
    code = await flow.code(client_id=ID)
    assert (await flow.exchange(code, client_id=ID)).status_code == 401


@pytest.mark.parametrize(
    ("client_id", "loopback", "is_one"),
    [
        (ID, False, True),
        ("https://app.example", False, False),
        ("https://app.example/", False, False),
        ("http://app.example/client.json", True, False),
        ("http://127.0.0.1:8/client.json", False, False),
        ("http://127.0.0.1:8/client.json", True, True),
        ("https://app.example/a/../client.json", False, False),
        ("https://app.example/client.json#x", False, False),
        ("https://user@app.example/client.json", False, False),
        ("https://app.example:port/client.json", False, False),
        ("https://[::1/client.json", False, False),
        ("ftp://app.example/client.json", False, False),
        ("plain", False, False),
    ],
)
def test_a_client_id_is_an_address_only_if_it_is_a_plain_one(
    client_id: str, loopback: bool, is_one: bool
) -> None:
    assert is_document_address(client_id, loopback) is is_one
