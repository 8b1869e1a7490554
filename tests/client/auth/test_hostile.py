"""Servers that lie, mislead or flood: no token leaves, and one clear error arrives."""

from __future__ import annotations

import contextlib
import gzip
from typing import Any

import msgspec
import pytest

from assay import AuthorizationFailed, Client, HttpFailure, OAuth
from assay.client.auth.http_client import BODY_BYTES, HttpClient
from assay.protocol.oauth.effect import HttpRequest
from tests.client.auth.world import World, protected
from tests.client.scripted import HttpRequest as Received
from tests.client.scripted import RawServer, Writer, http_response, raw_http

RESOURCE = "/.well-known/oauth-protected-resource/mcp"
SERVER = "/.well-known/oauth-authorization-server"
DEEP = b'{"a":' * 5000 + b"1" + b"}" * 5000


async def refused(world: World, reason: str) -> AuthorizationFailed:
    with pytest.raises(AuthorizationFailed, match=reason) as failure:
        await Client(world.url, auth=OAuth(headless=True)).open()
    assert not world.at("/token")
    return failure.value


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"resource": "https://evil.example/mcp"}, "is for another resource"),
        ({"resource": "http://127.0.0.1:1/mcp"}, "is for another resource"),
        ({"resource": "{url}/deeper"}, "is for another resource"),
        ({"resource": "{url}#part"}, "is for another resource"),
        ({"resource": 7}, "Expected `str`, got `int`"),
        ({"authorization_servers": []}, "names no authorization server"),
        ({"authorization_servers": ["http://as.example"]}, "must be https"),
        ({"authorization_servers": ["file:///etc/passwd"]}, "not a usable URL"),
        ({"authorization_servers": ["https://as.example\\@evil.example"]}, "not a usable URL"),
        ({"authorization_servers": ["https://169.254.169.254"]}, "a special network"),
        ({"authorization_servers": ["https://[fe80::1]"]}, "a special network"),
        ({"authorization_servers": ["https://" + "a" * 3000]}, "not a usable URL"),
    ],
)
async def test_metadata_of_the_resource_are_checked(changed: dict[str, Any], reason: str) -> None:
    async with protected() as world:
        usual = {"resource": world.url, "authorization_servers": [world.issuer]}
        document = {
            name: value.replace("{url}", world.url) if isinstance(value, str) else value
            for name, value in {**usual, **changed}.items()
        }
        world.server.answers[RESOURCE] = msgspec.json.encode(document)
        await refused(world, reason)
        assert not world.authority.received


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({"issuer": "https://evil.example"}, "those of another issuer"),
        ({"issuer": "{issuer}/"}, "those of another issuer"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "not a usable URL"),
        ({"authorization_endpoint": "http://0.0.0.0:1/"}, "must be https"),
        ({"authorization_endpoint": None}, "has no authorization_endpoint"),
        ({"token_endpoint": "http://as.example/token"}, "must be https"),
        ({"token_endpoint": ["x"]}, "Expected `str | null`"),
        ({"code_challenge_methods_supported": None}, "PKCE"),
        ({"code_challenge_methods_supported": ["plain"]}, "PKCE"),
        ({"registration_endpoint": None}, "pass its client_id="),
        ({"registration_endpoint": "https://169.254.169.254/"}, "a special network"),
    ],
)
async def test_metadata_of_the_authorization_server_are_checked(
    metadata: dict[str, Any], reason: str
) -> None:
    async with protected(metadata=metadata) as world:
        await refused(world, reason)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b" " * (BODY_BYTES + 1), f"more than {BODY_BYTES} bytes"),
        (b"<html>", "publishes no metadata"),
        (b"[]", "publishes no metadata"),
        (DEEP, "publishes no metadata"),
        (b"", "status 503; try again later"),
    ],
)
async def test_a_document_that_is_none_is_an_error(body: bytes, reason: str) -> None:
    async with protected() as world:
        for path in (SERVER, "/.well-known/openid-configuration"):
            world.authority.answers[path] = body
        await refused(world, reason)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"access_token": "a b"}, "no header can carry"),
        ({"access_token": "x" * 20_000}, "no header can carry"),
        ({"access_token": "x", "token_type": "mac"}, "unusable type"),
        ({"access_token": "x", "token_type": "DPoP"}, "unusable type"),
        ({}, "missing required field `access_token`"),
        ([], "not a JSON object"),
    ],
)
async def test_an_answer_without_a_usable_token_is_an_error(answer: Any, reason: str) -> None:
    async with protected() as world:
        world.authority.answers["/token"] = msgspec.json.encode(answer)
        with pytest.raises(AuthorizationFailed, match=reason):
            await Client(world.url, auth=OAuth(headless=True)).open()


async def test_what_a_server_writes_cannot_act_on_a_terminal() -> None:
    async with protected(metadata={"issuer": "https://evil.example/\x1b[31m"}) as world:
        assert "\x1b" not in str(await refused(world, "another issuer"))


# Redirects, compression, and networks.


def answering(response: bytes) -> Any:
    async def respond(request: Received, writer: Writer) -> None:
        writer.write(response)

    return raw_http(respond)


def redirect(location: str, status: str = "307 Temporary Redirect") -> bytes:
    return http_response(status, extra=f"Location: {location}\r\n")


async def test_a_token_is_not_sent_to_the_target_of_a_redirect() -> None:
    async with answering(http_response("200 OK")) as other, answering(redirect(other.url)) as server:
        with pytest.raises(HttpFailure, match="redirected to"):
            await Client(server.url, auth="secret").open()
        assert server.requests[0].headers["authorization"] == "Bearer secret"
        assert not other.requests


async def fetch(server: RawServer, method: str = "GET") -> int:
    request = HttpRequest(method, server.url, {}, b"secret=1" if method == "POST" else b"")
    return (await HttpClient(server.url).send(request)).status


async def test_a_redirect_to_another_origin_is_not_followed() -> None:
    async with answering(http_response("200 OK")) as other, answering(redirect(other.url)) as server:
        assert await fetch(server) == 307
        assert not other.requests


@pytest.mark.parametrize("status", ["302 Found", "307 Temporary Redirect", "308 Permanent Redirect"])
async def test_a_form_is_not_sent_again_by_a_redirect(status: str) -> None:
    async with answering(redirect("/other", status)) as server:
        assert await fetch(server, "POST") == int(status[:3])
        assert len(server.requests) == 1


async def test_endless_redirects_end() -> None:
    async with answering(redirect("/again")) as server:
        with pytest.raises(AuthorizationFailed, match="more than 5 times"):
            await fetch(server)
        assert len(server.requests) == 6


@pytest.mark.parametrize(
    "location", ["http://[", "//[::1", "http://a:b:c/", "http://\\", "x:y", "http://[1]/"]
)
async def test_a_redirect_to_what_is_no_url_is_not_followed(location: str) -> None:
    async with answering(redirect(location)) as server:
        with contextlib.suppress(AuthorizationFailed):
            assert await fetch(server) == 307
        with pytest.raises(AuthorizationFailed):
            await HttpClient(server.url).follow(server.url, "http://127.0.0.1/callback")
        assert len(server.requests) == 2


async def test_a_compressed_answer_is_refused() -> None:
    bomb = http_response("200 OK", gzip.compress(b" " * 10**7), extra="Content-Encoding: gzip\r\n")
    async with answering(bomb) as server:
        with pytest.raises(AuthorizationFailed, match="compressed its answer"):
            await fetch(server)


async def test_headless_redirects_end() -> None:
    async with answering(redirect("/again", "302 Found")) as server:
        with pytest.raises(AuthorizationFailed, match="after 10 redirects"):
            await HttpClient(server.url).follow(server.url, "http://127.0.0.1/callback")


HOSTS = {
    "mcp.example": ["93.184.215.14"],
    "mcp.internal": ["10.0.0.1"],
    "as.example": ["93.184.215.15"],
    "intranet.example": ["10.0.0.5"],
    "both.example": ["93.184.215.15", "127.0.0.1"],
    "mapped.example": ["::ffff:10.0.0.5"],
    "cloud.example": ["169.254.169.254"],
    "localhost": ["127.0.0.1"],
}


@pytest.mark.parametrize(
    ("server", "target", "zone"),
    [
        ("https://mcp.example", "https://intranet.example", "a private network"),
        ("https://mcp.example", "https://both.example", "this machine"),
        ("https://mcp.example", "https://mapped.example", "a private network"),
        ("https://mcp.example", "https://cloud.example", "a special network"),
        ("https://mcp.example", "http://localhost", "this machine"),
        ("https://mcp.internal", "http://localhost", "this machine"),
        ("https://mcp.internal", "https://cloud.example", "a special network"),
        ("http://localhost", "https://cloud.example", "a special network"),
        ("https://both.example", "http://localhost", "this machine"),
        ("https://both.example", "https://intranet.example", "a private network"),
    ],
)
async def test_a_server_cannot_lead_a_client_into_another_network(
    server: str, target: str, zone: str
) -> None:
    with pytest.raises(AuthorizationFailed, match=f"is in {zone}"):
        await guarded(server).send(HttpRequest("GET", f"{target}/metadata"))


async def test_a_server_that_changes_its_address_does_not_choose_the_networks() -> None:
    """DNS rebinding: the name resolved to a public address for the request, and now to this machine."""
    http = guarded("http://localhost")
    http.place("93.184.215.14")
    with pytest.raises(AuthorizationFailed, match="is in a private network"):
        await http.send(HttpRequest("GET", "https://intranet.example/metadata"))


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_the_address_at_which_the_server_was_reached_decides(
    monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    places: list[str] = []
    monkeypatch.setattr(HttpClient, "place", lambda self, peer: places.append(peer))
    refusal = http_response("401 Unauthorized", extra="WWW-Authenticate: Bearer\r\n")
    async with answering(refusal) as server:
        with pytest.raises(AuthorizationFailed):
            await Client(server.url.replace("http", scheme), auth=OAuth(headless=True)).open()
    assert places == ["127.0.0.1"]


def guarded(server: str, *trusted: str) -> HttpClient:
    async def resolve(host: str, port: int) -> list[str]:
        return HOSTS[host]

    return HttpClient(f"{server}/mcp", trusted, resolve=resolve)


async def test_an_address_that_the_user_names_may_be_anywhere() -> None:
    async with answering(http_response("200 OK")) as server:
        url = server.url.replace("127.0.0.1", "localhost")
        http = guarded("https://mcp.example", url)
        assert (await http.send(HttpRequest("GET", url))).status == 200
