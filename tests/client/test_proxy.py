"""Proxies: a real one on loopback that forwards and opens tunnels, and the variables of the environment."""

from __future__ import annotations

import asyncio
import contextlib
from base64 import b64encode
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from assay import Client, ConnectionFailed, HttpFailure, OAuth, Retry, SyncClient
from assay.bundled.everything import server
from assay.client.doctor import diagnose
from assay.transport.client.proxy import Proxy, proxy_for, read_proxy
from assay.transport.client.url import read_address
from tests.client.auth.world import protected
from tests.client.test_tls import encrypted
from tests.driving.answer import PATIENCE
from tests.driving.certificates import Authority
from tests.driving.hosts import on_assay

APP = partial(server.asgi, allowed_hosts=["server.invalid"])
USER = "Basic " + b64encode(b"ada:s3cret!").decode()


class RunningProxy(NamedTuple):
    url: str
    requests: list[tuple[str, str]]
    """Methods and targets of the requests."""


@contextlib.asynccontextmanager
async def proxy(credentials: str = "", status: str = "") -> AsyncIterator[RunningProxy]:
    """Leads every name to this machine, as a proxy that alone knows the names of a company does."""
    requests: list[tuple[str, str]] = []
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
            requests.append((method, target))
            is_known = not credentials or f"Proxy-Authorization: {credentials}\r\n".encode() in head
            if status or not is_known:
                line = status or "407 Proxy Authentication Required"
                writer.write(f"HTTP/1.1 {line}\r\nContent-Length: 0\r\n\r\n".encode())
                return
            parts = urlsplit(target if method != "CONNECT" else f"//{target}")
            other, onward = await asyncio.open_connection("127.0.0.1", parts.port)
            writers.append(onward)
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                path = parts._replace(scheme="", netloc="").geturl()
                onward.write(head.replace(target.encode(), path.encode(), 1))
            await asyncio.gather(_copy(reader, onward), _copy(other, writer))

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        async with asyncio.timeout(3 * PATIENCE):
            yield RunningProxy(f"127.0.0.1:{listening.sockets[0].getsockname()[1]}", requests)
    finally:
        listening.close()
        for writer in writers:
            writer.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
    writer.close()


async def test_plain_requests_are_forwarded_with_their_whole_url() -> None:
    async with on_assay(APP()) as port, proxy(USER) as through:
        url = f"http://server.invalid:{port}/mcp"
        async with Client(url, proxy=f"http://ada:s3cret%21@{through.url}") as client:
            assert (await client.call("test_simple_text")).text
    assert set(through.requests) == {("POST", url)}


@pytest.mark.parametrize(("scheme", "path"), [("https", ""), ("wss", "/ws")])
async def test_encrypted_connections_go_through_a_tunnel(tmp_path: Path, scheme: str, path: str) -> None:
    authority = Authority(tmp_path, "authority")
    async with encrypted(authority) as address, proxy(USER) as through:
        way = f"http://ada:s3cret!@{through.url}"
        async with Client(f"{scheme}://{address}{path}", tls=authority.client_context(), proxy=way) as client:
            assert (await client.call("test_simple_text")).text
        assert set(through.requests) == {("CONNECT", address.partition("/")[0])}
        with pytest.raises(ConnectionFailed, match=r"through the proxy .*: its certificate is not trusted"):
            async with Client(f"{scheme}://{address}{path}", proxy=way):
                pass


async def test_a_websocket_goes_through_a_tunnel() -> None:
    async with on_assay(APP()) as port, proxy() as through:
        client = Client(f"ws://server.invalid:{port}/mcp/ws", proxy=through.url)
        async with client:
            assert (await client.call("test_simple_text")).text
    assert through.requests == [("CONNECT", f"server.invalid:{port}")]


@pytest.mark.parametrize("scheme", ["http", "https", "ws"])
async def test_a_proxy_that_wants_credentials_is_named_without_showing_them(scheme: str) -> None:
    async with proxy(USER) as through:
        with pytest.raises((ConnectionFailed, HttpFailure), match="a proxy wants credentials") as failure:
            async with Client(
                f"{scheme}://server.invalid/mcp", proxy=f"http://ada:wrong-secret@{through.url}"
            ):
                pass
    assert "wrong-secret" not in repr(failure.value) + str(failure.value)


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_that_cannot_be_reached_is_named_without_its_credentials(scheme: str) -> None:
    async with proxy() as through:
        pass
    with pytest.raises(ConnectionFailed, match=rf"the proxy http://{through.url} cannot be") as failure:
        async with Client(f"{scheme}://server.invalid/mcp", proxy=f"http://ada:s3cret!@{through.url}"):
            pass
    assert failure.value.unsent and "s3cret" not in str(failure.value)


async def test_a_tunnel_that_the_proxy_refuses_is_an_error_with_the_status() -> None:
    async with proxy(status="403 Forbidden") as through:
        with pytest.raises(ConnectionFailed, match="status 403: it does not allow this address"):
            async with Client("https://server.invalid/mcp", proxy=through.url, retry=Retry(opening=5)):
                pass
        assert len(through.requests) == 1


async def test_authorization_goes_through_the_proxy() -> None:
    async with protected() as world, proxy() as through:
        async with Client(world.url, auth=OAuth(headless=True), proxy=through.url) as client:
            assert await client.tools()
        targets = {target.partition("?")[0] for _, target in through.requests}
    assert {urlsplit(target).path for target in targets} >= {"/mcp", "/token"}


async def test_the_doctor_looks_at_the_proxy_instead_of_the_way_to_the_server() -> None:
    async with on_assay(APP()) as port, proxy() as through:
        diagnosis = await diagnose(f"http://server.invalid:{port}/mcp", proxy=through.url)
    assert diagnosis.ok and [step.name for step in diagnosis.steps][:2] == ["proxy", "protocol"]


def test_a_proxy_is_for_urls() -> None:
    with pytest.raises(TypeError, match="proxy= are for servers with a URL"):
        SyncClient(server, proxy="http://127.0.0.1:1")
    with pytest.raises(TypeError, match="proxy must be a URL, False or None, not int"):
        Client("https://example.com/mcp", proxy=5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the client writes the header Proxy-Authorization itself"):
        Client("https://example.com/mcp", headers={"Proxy-Authorization": "x"})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("socks5://ada:s3cret@host:1080", "a proxy with socks5:// is not supported"),
        ("http://ada:s3cret@", "the proxy is not a URL"),
        ("http://ada:s3cret@host:port", "the proxy is not a URL"),
        ("http://ada:s3cret@host\r\nX: y", "the proxy is not a URL"),
    ],
)
def test_an_invalid_proxy_is_refused_without_showing_its_credentials(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as failure:
        read_proxy(text)
    assert "s3cret" not in str(failure.value)
    assert "s3cret" not in repr(read_proxy("http://ada:s3cret@host:1"))


@pytest.mark.parametrize(
    ("url", "environ", "expected"),
    [
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("wss://a.example/", {"https_proxy": "p:1"}, "http://p:1"),
        ("http://a.example/", {"HTTPS_PROXY": "http://p:1"}, None),
        ("http://a.example/", {"http_proxy": "http://p:1"}, "http://p:1"),
        ("http://a.example/", {"HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "GET"}, None),
        ("http://a.example/", {"ALL_PROXY": "https://p"}, "https://p"),
        ("http://localhost:3000/", {"ALL_PROXY": "http://p:1"}, None),
        ("http://127.0.0.2/", {"ALL_PROXY": "http://p:1"}, None),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, None),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "b.example, .example"}, None),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "ple"}, "http://p:1"),
        ("https://a.example:8443/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "a.example:8443"}, None),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1", "no_proxy": "a.example:8443"}, "http://p:1"),
        ("https://10.1.2.3/", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8"}, None),
    ],
)
def test_the_environment_names_the_proxy(url: str, environ: dict[str, str], expected: str | None) -> None:
    selected = proxy_for(read_address(url), None, environ)
    assert (selected and selected.address.url) == expected
    assert proxy_for(read_address(url), False, environ) is None
    assert isinstance(proxy_for(read_address(url), "http://q", environ), Proxy)


def test_an_invalid_variable_is_named() -> None:
    with pytest.raises(ValueError, match="the variable HTTPS_PROXY or ALL_PROXY: a proxy with socks5://"):
        proxy_for(read_address("https://a.example/"), None, {"ALL_PROXY": "socks5://p"})
