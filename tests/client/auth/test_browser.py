"""The redirect arrives at a port of this machine; only the right one counts."""

from __future__ import annotations

import asyncio
import urllib.request
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

import pytest

from assay import AuthorizationFailed, Client, OAuth
from assay.client.auth.loopback import LoopbackListener
from tests.client.auth.world import protected
from tests.driving.answer import PATIENCE


def browse(url: str) -> bool:
    """A browser that follows redirects, in the thread that opened it."""
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=PATIENCE) as page:
        assert b"You can close this page" in page.read()
    return True


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", browse)


@pytest.mark.usefixtures("browser")
async def test_a_browser_opens_and_the_answer_arrives_at_a_free_port() -> None:
    async with protected() as world:
        async with Client(world.url, auth="oauth") as client:
            assert (await client.call("greet")).text.endswith("developer")
        redirect = urlsplit(world.at("/authorize")[0].form["redirect_uri"])
        assert (redirect.hostname, redirect.path) == ("127.0.0.1", "/callback")
        with pytest.raises(OSError):
            await asyncio.open_connection("127.0.0.1", redirect.port)


@pytest.mark.usefixtures("browser")
async def test_another_authorization_listens_at_the_registered_port() -> None:
    async with protected(grants=("authorization_code",)) as world, Client(world.url, auth=OAuth()) as client:
        await client.call("greet")
        world.server.refused.add(world.last_token)
        await client.call("greet")
        assert len(world.at("/authorize")) == 2
        assert len({request.form["redirect_uri"] for request in world.at("/authorize")}) == 1
        assert len(world.at("/register")) == 1


async def test_a_machine_without_a_browser_logs_the_address(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda url: not browse(url))
    async with protected() as world, Client(world.url, auth=OAuth()):
        assert f"{world.issuer}/authorize?" in caplog.text


async def test_a_chosen_port_that_is_in_use_is_an_error() -> None:
    async with protected() as world, await asyncio.start_server(lambda *_: None, "127.0.0.1", 0) as taken:
        port = taken.sockets[0].getsockname()[1]
        auth = OAuth(redirect_uri=f"http://127.0.0.1:{port}/callback")
        with pytest.raises(AuthorizationFailed, match="choose another redirect_uri="):
            await Client(world.url, auth=auth).open()


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[LoopbackListener, str]]:
    listener = LoopbackListener()
    uri = await listener.open(None, None)
    try:
        async with asyncio.timeout(PATIENCE):
            yield listener, uri
    finally:
        await listener.close()


async def send(uri: str, request: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(uri).port)
    try:
        writer.write(request.encode())
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


def get(uri: str, query: str, host: str | None = None) -> str:
    parts = urlsplit(uri)
    return f"GET {parts.path}?{query} HTTP/1.1\r\nHost: {host or parts.netloc}\r\n\r\n"


async def test_only_the_redirect_with_the_right_state_ends_the_wait() -> None:
    async with listening() as (listener, uri):
        listener.expect("right")
        for request in (
            get(uri, "code=x&state=wrong"),
            get(uri, "code=x"),
            get(uri, "code=x&state=right&state=right"),
            get(uri, "code=x&state=right", host="attacker.example"),
            get(uri, "code=x&state=right").replace("GET", "POST"),
            get(uri, "code=x&state=right").replace("/callback", "/other"),
            get(uri, "&".join(f"{n}=x" for n in range(100))),
        ):
            assert (await send(uri, request)).startswith(b"HTTP/1.1 404")
        assert not await send(uri, "GET /" + "x" * 20_000 + " HTTP/1.1\r\n\r\n")
        assert (await send(uri, get(uri, "code=x&state=right"))).startswith(b"HTTP/1.1 200")
        assert parse_qs(urlsplit(await listener.wait()).query)["code"] == ["x"]


async def test_a_connection_that_sends_nothing_does_not_hold_up_the_answer_or_the_end() -> None:
    async with listening() as (listener, uri):
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(uri).port)
        listener.expect("right")
        await send(uri, get(uri, "code=x&state=right"))
        assert (await listener.wait()).endswith("state=right")
        await listener.close()
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await reader.readexactly(1)
        writer.close()
