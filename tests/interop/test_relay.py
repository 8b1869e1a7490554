"""The relay cuts a connection at the mark, once for each token, and otherwise changes nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from interop.relay import Relay, relayed


@asynccontextmanager
async def speaking(*pieces: bytes) -> AsyncIterator[tuple[str, Relay]]:
    """Relay to a server that waits for one line, sends the pieces, then closes."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        async with relayed(f"http://127.0.0.1:{port}/mcp") as (url, relay):
            yield url, relay


async def ask(url: str) -> bytes:
    port = int(url.split(":")[2].split("/")[0])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"hello\n")
    try:
        return await asyncio.wait_for(reader.read(), 10)
    finally:
        writer.close()


async def test_it_leads_to_the_same_path_and_passes_everything_on() -> None:
    async with speaking(b"first ", b"second") as (url, relay):
        assert url.endswith("/mcp")
        assert await ask(url) == b"first second"
        assert relay.cuts == []


async def test_it_cuts_after_the_mark_and_once_only() -> None:
    long = b"." * 1_000_000
    async with speaking(b"before cut-here:t1; ", long, b"after") as (url, relay):
        assert not (await ask(url)).endswith(b"after")
        assert relay.cuts == ["t1"]
        assert (await ask(url)).endswith(b"after")
        assert relay.cuts == ["t1"]


@pytest.mark.parametrize("split", range(1, 13))
async def test_it_sees_a_mark_that_arrives_in_two_pieces(split: int) -> None:
    mark = b"cut-here:t2;"
    async with speaking(b"x" * 70_000 + mark[:split], mark[split:], b"." * 1_000_000, b"after") as (
        url,
        relay,
    ):
        assert not (await ask(url)).endswith(b"after")
        assert relay.cuts == ["t2"]


async def test_a_server_that_is_gone_ends_the_connection() -> None:
    async with relayed("http://127.0.0.1:1/mcp") as (url, relay):
        assert await ask(url) == b""
        assert relay.cuts == []
