"""A user authorizes a client: from 401 to a call, with a real authorization server."""

from __future__ import annotations

import asyncio

import pytest

from assay import AuthorizationFailed, Client, HttpFailure, OAuth, SyncClient
from assay.authority.authority import Authority
from assay.authority.record import Client as Registered
from assay.authority.record import digest
from assay.authority.settings import Lifetimes, Settings
from tests.client.auth.world import World, protected

SHORT = Lifetimes(access=20.0)
"""Shorter than the time before the end of a token when it is refreshed."""
DOCUMENT = "https://client.example/metadata.json"
REDIRECT = "http://127.0.0.1/callback"


def headless() -> OAuth:
    return OAuth(headless=True)


async def test_a_client_registers_asks_the_user_and_calls() -> None:
    async with protected() as world:
        async with Client(world.url, auth=headless()) as client:
            assert (await client.call("greet")).text.endswith("developer")
        paths = [request.path for request in world.authority.received]
        assert paths == ["/.well-known/oauth-authorization-server", "/register", "/authorize", "/token"]
        assert world.at("/token")[0].form["resource"] == world.url


@pytest.mark.parametrize("revision", ["2025-03-26", "2025-11-25", "2026-07-28"])
async def test_a_missing_scope_is_requested_with_the_earlier_ones(revision: str) -> None:
    async with protected() as world, Client(world.url, auth=headless(), revision=revision) as client:
        assert (await client.call("save")).text == "saved"
        assert (await client.call("save")).text == "saved"
        assert world.scopes() == [["read"], ["read", "write"]]


async def test_concurrent_calls_share_one_authorization() -> None:
    async with protected() as world, Client(world.url, auth=headless()) as client:
        results = await asyncio.gather(*(client.call("save") for _ in range(20)))
        assert {result.text for result in results} == {"saved"}
        assert len(world.at("/authorize")) == 2


async def test_a_token_is_refreshed_before_it_expires_and_the_refresh_token_rotates() -> None:
    async with protected(lifetimes=SHORT) as world:
        async with Client(world.url, auth=headless()) as client:
            await client.call("greet")
            await client.call("greet")
        refreshes = [request.form for request in world.at("/token")[1:]]
        assert {form["grant_type"] for form in refreshes} == {"refresh_token"}
        assert len({form["refresh_token"] for form in refreshes}) == len(refreshes) >= 2
        assert len(world.at("/authorize")) == 1


async def test_a_refused_token_is_refreshed_without_the_user() -> None:
    async with protected() as world, Client(world.url, auth=headless()) as client:
        await client.call("greet")
        world.server.refused.add(world.last_token)
        await client.call("greet")
        assert world.grants() == ["authorization_code", "refresh_token"]


async def test_a_refused_refresh_token_asks_the_user_again() -> None:
    async with protected() as world, Client(world.url, auth=headless()) as client:
        await client.call("greet")
        world.server.refused.add(world.last_token)
        forget(world, "refresh")
        await client.call("greet")
        assert world.grants() == ["authorization_code", "refresh_token", "authorization_code"]


def forget(world: World, kind: str) -> None:
    for key, _ in world.office.store.all(kind):
        world.office.store.drop(kind, key)


async def test_a_valid_token_is_used_while_the_authorization_server_is_out_of_order() -> None:
    async with protected(lifetimes=SHORT) as world, Client(world.url, auth=headless()) as client:
        world.authority.answers["/token"] = b""
        assert (await client.call("greet")).text.endswith("developer")


async def test_a_token_that_is_refused_right_after_it_was_granted_is_not_replaced() -> None:
    other_keys = Authority(Settings(issuer="http://127.0.0.1")).jwks()
    async with protected(auth={"jwks": other_keys}) as world:
        with pytest.raises(HttpFailure, match="401"):
            await Client(world.url, auth=headless()).open()
        assert world.grants() == ["authorization_code"]


async def test_a_user_who_refuses_is_an_error_with_its_code() -> None:
    async with protected(auto_approve=False) as world:

        def refuse(url: str) -> str:
            state = url.partition("state=")[2].partition("&")[0]
            return f"{REDIRECT}?error=access_denied&state={state}&iss={world.issuer}"

        with pytest.raises(AuthorizationFailed, match="refused the authorization") as failure:
            await Client(world.url, auth=OAuth(visit=refuse)).open()
        assert failure.value.error == "access_denied"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("https://evil.example/callback?code=x", "not at the redirect URI"),
        (f"{REDIRECT}?code=x&state=wrong", "`state` differs"),
        (f"{REDIRECT}?code=x&code=y", "a parameter twice"),
        (None, "must return the URL"),
    ],
)
async def test_an_answer_that_is_not_the_redirect_is_refused(answer: str | None, problem: str) -> None:
    async def visit(url: str) -> str:
        return answer  # type: ignore[return-value]

    async with protected() as world:
        with pytest.raises(AuthorizationFailed, match=problem):
            await Client(world.url, auth=OAuth(visit=visit)).open()
        assert not world.at("/token")


async def test_a_page_for_a_person_ends_headless_authorization() -> None:
    async with protected(auto_approve=False) as world:
        with pytest.raises(AuthorizationFailed, match="it may want to ask a person"):
            await Client(world.url, auth=headless()).open()


async def test_a_registered_client_uses_its_secret_and_does_not_register() -> None:
    registered = Registered(
        id="known", secret=digest("s3cret"), methods=("client_secret_basic",), redirects=(REDIRECT,)
    )
    auth = OAuth(headless=True, client_id="known", client_secret="s3cret")
    async with protected(clients=(registered,)) as world, Client(world.url, auth=auth) as client:
        await client.call("greet")
        assert not world.at("/register")
        assert world.at("/token")[0].headers["authorization"].startswith("Basic ")


async def test_registered_credentials_are_not_sent_to_another_authorization_server() -> None:
    auth = OAuth(headless=True, client_id="known", client_secret="s3cret", issuer="https://as.example")
    async with protected() as world:
        with pytest.raises(AuthorizationFailed, match="they must not be sent there"):
            await Client(world.url, auth=auth).open()
        assert not world.authority.received


async def test_a_metadata_document_is_preferred_to_registration() -> None:
    published = {
        DOCUMENT: {
            "client_id": DOCUMENT,
            "client_name": "Test",
            "redirect_uris": [REDIRECT],
            "token_endpoint_auth_method": "none",
        }
    }
    auth = OAuth(headless=True, client_metadata_url=DOCUMENT)
    async with protected(published=published) as world, Client(world.url, auth=auth) as client:
        await client.call("greet")
        assert world.at("/authorize")[0].form["client_id"] == DOCUMENT
        assert not world.at("/register")


async def test_a_client_that_the_server_has_forgotten_registers_again() -> None:
    async with protected() as world, Client(world.url, auth=headless()) as client:
        await client.call("greet")
        world.server.refused.add(world.last_token)
        forget(world, "client")
        await client.call("greet")
        assert len(world.at("/register")) == 2


async def test_a_client_without_await_authorizes_too() -> None:
    async with protected() as world:

        def call() -> str:
            with SyncClient(world.url, auth=headless()) as client:
                return client.call("greet").text

        assert (await asyncio.to_thread(call)).endswith("developer")


async def test_the_upgrade_of_a_websocket_is_authorized() -> None:
    async with protected() as world, Client(world.socket_url, auth=headless()) as client:
        assert (await client.call("greet")).text.endswith("developer")
        assert world.at("/token")[0].form["resource"] in (world.url, world.socket_url)
