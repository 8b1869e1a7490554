"""A client that is used outside of the event loop that it was opened in."""

from __future__ import annotations

import asyncio
import sys

import pytest

from assay import Client, ClientError, Server, Stdio
from assay.client.state import ClientState

CODE = "from assay import Server; Server('plain').run()"


@pytest.fixture(params=["memory", "process"])
def client(request: pytest.FixtureRequest) -> Client:
    return Client(Server("plain") if request.param == "memory" else Stdio(sys.executable, "-c", CODE))


async def opened(client: Client) -> Client:
    return await client.open()


def in_a_thread(client: Client, method: str) -> None:
    async def call() -> None:
        async with asyncio.timeout(10):
            await getattr(client, method)()

    asyncio.run(call())


async def test_a_call_from_the_loop_of_another_thread_names_the_fix(client: Client) -> None:
    async with client:
        with pytest.raises(ClientError, match=r"another event loop: open one in each loop .* SyncClient"):
            await asyncio.to_thread(in_a_thread, client, "tools")
        await client.ping()


async def test_a_subscription_from_another_loop_is_refused() -> None:
    async with Client(Server("plain")) as client:

        async def subscribe() -> None:
            async with client.listen("tools"):
                pass

        with pytest.raises(ClientError, match="another event loop"):
            await asyncio.to_thread(asyncio.run, subscribe())


async def test_the_loop_of_another_thread_can_close_it(client: Client) -> None:
    await client.open()
    await asyncio.to_thread(in_a_thread, client, "close")
    assert client.state is ClientState.CLOSED
    await asyncio.to_thread(in_a_thread, client, "close")


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_after_its_loop_has_ended_it_is_refused_and_can_be_opened_again() -> None:
    client = Client(Server("plain"))
    asyncio.run(opened(client))
    with pytest.raises(ClientError, match="another event loop"):
        in_a_thread(client, "tools")

    async def again() -> None:
        async with client:
            await client.ping()

    asyncio.run(again())
    assert client.state is ClientState.CLOSED


def test_after_its_loop_has_ended_it_can_be_closed() -> None:
    client = Client(Server("plain"))
    asyncio.run(opened(client))
    in_a_thread(client, "close")
    assert client.state is ClientState.CLOSED
