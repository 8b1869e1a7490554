"""Mistakes in options are noticed before anything is sent."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from assay import (
    Client,
    ClientCredentials,
    EnterpriseAuth,
    MemoryStorage,
    MissingExtra,
    OAuth,
    Server,
    Stdio,
    WorkloadIdentity,
)
from tests.client.auth.world import protected


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: OAuth(client_secret="x"), "needs client_id="),
        (lambda: OAuth(headless=True, visit=str), "not both"),
        (lambda: OAuth(client_metadata_url="http://a.example/x"), "an https URL with a path"),
        (lambda: OAuth(client_metadata_url="https://a.example/"), "an https URL with a path"),
        (lambda: OAuth(redirect_uri="https://a.example/cb"), "or pass visit="),
        (lambda: OAuth(redirect_uri="http://127.0.0.1/cb"), "or pass visit="),
        (lambda: OAuth(visit=str, redirect_uri="http://a.example/cb"), "must be https"),
        (lambda: OAuth(visit=str, redirect_uri="https://a.example/cb?x=1"), "no query"),
        (lambda: OAuth(scopes=["a b"]), "not a scope"),
        (lambda: OAuth(issuer="http://as.example"), "issuer= must be https"),
        (lambda: ClientCredentials("x"), "client_secret= or private_key="),
        (lambda: ClientCredentials("x", "y", private_key="z"), "client_secret= or private_key="),
        (lambda: ClientCredentials("x", private_key="secret"), "an unencrypted private key"),
        (lambda: WorkloadIdentity("x", issuer="ftp://a"), "not a usable URL"),
        (lambda: EnterpriseAuth("x", id_token="y", idp_client_id="z"), "idp_issuer= or idp_token_endpoint="),
        (lambda: Client("http://mcp.example/mcp", auth="x"), "must be https"),
        (lambda: Client("ws://mcp.example/mcp", auth=OAuth()), "must be https"),
        (lambda: Client("https://mcp.example/mcp", auth=""), "without spaces"),
        (lambda: Client("https://a.example", auth="x", headers={"authorization": "y"}), "not both"),
        (lambda: Client("https://mcp.example/mcp", auth="a\r\nb"), "without spaces"),
    ],
)
def test_an_invalid_option_is_refused(make: Callable[[], Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as failure:
        make()
    assert "secret" not in str(failure.value).replace("client_secret=", "")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: OAuth(storage="tokens.json"), r"must be like MemoryStorage\(\)"),  # type: ignore[arg-type]
        (lambda: OAuth(storage=MemoryStorage), r"must be like MemoryStorage\(\)"),  # type: ignore[arg-type]
        (lambda: OAuth(visit="chrome"), "visit must be a function of the authorization URL"),  # type: ignore[arg-type]
        (lambda: OAuth(timeout=None), "timeout must be a number of seconds, not None"),  # type: ignore[arg-type]
        (lambda: OAuth(client_id=3), "client_id must be a text, not int"),  # type: ignore[arg-type]
        (lambda: ClientCredentials("x", b"y"), "client_secret must be a text, not bytes"),  # type: ignore[arg-type]
        (lambda: WorkloadIdentity(b"x"), "assertion must be a token, or a function"),  # type: ignore[arg-type]
        (
            lambda: EnterpriseAuth("x", id_token=1, idp_client_id="z"),  # type: ignore[arg-type]
            "id_token must be a token, or a function",
        ),
    ],
)
def test_an_option_of_another_type_is_refused(make: Callable[[], Any], reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        make()


@pytest.mark.parametrize("target", [Server("here"), Stdio("true")])
def test_authorization_is_for_urls(target: Any) -> None:
    with pytest.raises(TypeError, match="servers with a URL"):
        Client(target, auth="token")


def test_another_object_is_not_an_authorization() -> None:
    with pytest.raises(TypeError, match="such as OAuth"):
        Client("https://mcp.example/mcp", auth=7)  # type: ignore[arg-type]


def test_a_missing_extra_names_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(MissingExtra, match=r'pip install "assay-mcp\[auth\]"'):
        Client("https://mcp.example/mcp", auth=OAuth())


@pytest.mark.parametrize(
    "auth",
    [
        OAuth(client_id="x", client_secret="secret"),
        ClientCredentials("x", "secret"),
        WorkloadIdentity("secret", client_id="x", client_secret="secret"),
        EnterpriseAuth("x", "secret", id_token="secret", idp_client_id="y", idp_issuer="https://idp.example"),
    ],
)
def test_secrets_are_not_in_the_representation(auth: Any) -> None:
    assert "secret" not in repr((auth, auth.plan, auth.plan.grant))


async def test_a_token_is_sent_as_it_is() -> None:
    async with protected() as world:
        token = world.office.mint(audience=world.url, scopes=["read"])
        for url in (world.url, world.socket_url):
            async with Client(url, auth=token) as client:
                await client.call("greet")
        assert {request.headers["authorization"] for request in world.server.received} == {f"Bearer {token}"}
        assert not world.authority.received
