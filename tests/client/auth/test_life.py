"""Authorizations that take long: calls that stop waiting, and clients that close."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from assay import AuthorizationFailed, Client, ClientClosed, HttpFailure, OAuth
from assay.client.auth.http_client import HttpClient
from tests.client.auth.world import World, protected
from tests.driving.answer import PATIENCE

REDIRECT = "http://127.0.0.1/callback"


class SlowUser:
    """Agrees at once to the first request, and to others when the test says so."""

    def __init__(self) -> None:
        self.visits = 0
        self.has_left = False
        self.visited = asyncio.Event()
        self.agrees = asyncio.Event()

    async def __call__(self, url: str) -> str:
        self.visits += 1
        if self.visits > 1:
            self.visited.set()
            try:
                await self.agrees.wait()
            finally:
                self.has_left = True
        return await HttpClient(url).follow(url, REDIRECT)


@asynccontextmanager
async def slowly() -> AsyncIterator[tuple[World, Client, SlowUser]]:
    user = SlowUser()
    async with (
        protected() as world,
        asyncio.timeout(2 * PATIENCE),
        Client(world.url, auth=OAuth(visit=user)) as client,
    ):
        yield world, client, user


async def test_closing_ends_an_authorization_and_the_calls_that_wait_for_it() -> None:
    async with slowly() as (_, client, user):
        before = asyncio.all_tasks()
        call = asyncio.create_task(client.call("save"))
        await user.visited.wait()
        await client.close()
        with pytest.raises(ClientClosed):
            await call
        assert not asyncio.all_tasks() - before


async def test_an_authorization_outlives_the_call_that_began_it() -> None:
    async with slowly() as (world, client, user):
        first = asyncio.create_task(client.call("save"))
        await user.visited.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        second = asyncio.create_task(client.call("save"))
        user.agrees.set()
        assert (await second).text == "saved"
        assert len(world.at("/authorize")) == user.visits == 2


async def test_a_call_that_ends_meanwhile_says_that_the_authorization_is_in_progress() -> None:
    async with slowly() as (_, client, user):
        call = asyncio.create_task(client.call("save"))
        await user.visited.wait()
        assert "the authorization is still in progress: complete it" in client._open_one._context()
        user.agrees.set()
        assert (await call).text == "saved"
        assert client._open_one._context() == ""


async def test_a_cancelled_call_does_not_end_the_authorization_of_another() -> None:
    async with slowly() as (_, client, user):
        calls = [asyncio.create_task(client.call("save")) for _ in range(2)]
        await user.visited.wait()
        calls[0].cancel()
        user.agrees.set()
        assert (await calls[1]).text == "saved"
        with pytest.raises(asyncio.CancelledError):
            await calls[0]


async def test_a_user_who_does_not_decide_is_an_error_that_names_the_option() -> None:
    user = SlowUser()
    user.visits = 1
    async with protected() as world:
        with pytest.raises(AuthorizationFailed, match=r"took more than 0.1 s: raise timeout= of auth="):
            await Client(world.url, auth=OAuth(visit=user, timeout=0.1)).open()


async def test_a_user_who_refuses_further_scopes_is_asked_once() -> None:
    visits = 0

    async def visit(url: str) -> str:
        nonlocal visits
        visits += 1
        answer = await HttpClient(url).follow(url, REDIRECT)
        return answer if visits == 1 else answer.replace("code=", "error=access_denied&ignored=")

    async with protected() as world, Client(world.url, auth=OAuth(visit=visit)) as client:
        with pytest.raises(AuthorizationFailed, match="access_denied"):
            await client.call("save")
        with pytest.raises(HttpFailure, match="403"):
            await client.call("save")
        assert (await client.call("greet")).text.endswith("developer")
        assert visits == 2


async def test_a_client_that_fails_to_open_leaves_nothing_behind() -> None:
    user = SlowUser()
    user.visits = 1
    async with protected() as world, asyncio.timeout(PATIENCE):
        opening = asyncio.create_task(Client(world.url, auth=OAuth(visit=user)).open())
        await user.visited.wait()
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert user.has_left


async def test_a_client_can_be_opened_again() -> None:
    async with protected() as world:
        client = Client(world.url, auth=OAuth(headless=True))
        for _ in range(2):
            async with client:
                await client.call("greet")
        assert len(world.at("/authorize")) == 1


async def test_a_call_without_an_effect_is_not_sent_twice_if_the_token_is_good() -> None:
    async with protected() as world, Client(world.url, auth=OAuth(headless=True)) as client:
        world.server.received.clear()
        await client.call("greet")
        assert len(world.server.received) == 1


async def test_ending_a_session_does_not_begin_an_authorization() -> None:
    async with protected() as world:
        async with Client(world.url, auth=OAuth(headless=True), revision="2025-11-25") as client:
            await client.call("greet")
            world.server.refused.add(world.last_token)
        assert world.server.received[-1].method == "DELETE"
        assert world.grants() == ["authorization_code"]
