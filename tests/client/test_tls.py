"""Encrypted connections: trust comes from the standard library's contexts."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assay import Client, ClientLimits, ConnectionFailed, Limits
from assay.bundled.everything import server
from assay.transport.http1.listening import listen
from assay.transport.http1.server import serve
from assay.transport.http1.tls import make_context
from tests.driving.answer import PATIENCE
from tests.driving.certificates import Authority


@contextlib.asynccontextmanager
async def encrypted(authority: Authority) -> AsyncIterator[str]:
    bound, stop = listen("127.0.0.1", 0), asyncio.Event()
    pair = authority.issue("server")
    tls = make_context(pair.cert, pair.key, None)
    serving = asyncio.create_task(serve(server.asgi(), bound, stop.wait, limits=Limits(), tls=tls))
    try:
        async with asyncio.timeout(3 * PATIENCE):
            yield f"127.0.0.1:{bound.getsockname()[1]}/mcp"
    finally:
        stop.set()
        await serving


@pytest.mark.parametrize(("scheme", "path"), [("https", ""), ("wss", "/ws")])
async def test_a_trusted_server_is_called(tmp_path: Path, scheme: str, path: str) -> None:
    authority = Authority(tmp_path, "authority")
    tls = authority.client_context()
    async with (
        encrypted(authority) as address,
        Client(f"{scheme}://{address}{path}", tls=tls) as client,
    ):
        assert (await client.call("test_simple_text")).text


@pytest.mark.parametrize(("scheme", "path"), [("https", ""), ("wss", "/ws")])
async def test_an_untrusted_certificate_is_refused_and_the_option_named(
    tmp_path: Path, scheme: str, path: str
) -> None:
    async with encrypted(Authority(tmp_path, "authority")) as address:
        with pytest.raises(ConnectionFailed, match=r"certificate is not trusted: .*; pass tls="):
            async with Client(f"{scheme}://{address}{path}"):
                pass


async def test_a_server_without_tls_is_named_as_such() -> None:
    from tests.driving.hosts import on_assay

    async with on_assay(server.asgi()) as port:
        with pytest.raises(ConnectionFailed, match="does the server expect http://"):
            async with Client(f"https://127.0.0.1:{port}/mcp"):
                pass


@pytest.mark.parametrize("scheme", ["https", "wss"])
async def test_a_server_that_does_not_answer_the_handshake_is_given_up(scheme: str) -> None:
    left = asyncio.Event()

    async def ignore(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            await reader.read()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        left.set()

    silent = await asyncio.start_server(ignore, "127.0.0.1", 0)
    url = f"{scheme}://127.0.0.1:{silent.sockets[0].getsockname()[1]}/mcp"
    async with silent:
        with pytest.raises(ConnectionFailed, match=r"no answer in 0\.1 s"):
            async with Client(url, limits=ClientLimits(connect_timeout=0.1)):
                pass
        async with asyncio.timeout(PATIENCE):
            await left.wait()
