"""Notifications about changes: to initialized sessions, once per turn of the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from assay import Server
from tests.server.scripted import ScriptedClient, quiescence

CHANGES: dict[str, tuple[Callable[[Server, str], None], Callable[[Server, str], None], str]] = {
    "tools": (
        lambda server, name: server.tools.add(lambda: None, name=name),
        lambda server, name: server.tools.remove(name),
        "tools",
    ),
    "resources": (
        lambda server, name: server.resources.add(f"r://{name}", lambda: ""),
        lambda server, name: server.resources.remove(f"r://{name}"),
        "resources",
    ),
    "templates": (
        lambda server, name: server.resources.add(f"{name}://{{id}}", lambda id: ""),
        lambda server, name: server.resources.remove(f"{name}://{{id}}"),
        "resources",
    ),
    "prompts": (
        lambda server, name: server.prompts.add(lambda: "", name=name),
        lambda server, name: server.prompts.remove(name),
        "prompts",
    ),
}


def changed(kind: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": f"notifications/{kind}/list_changed"}


def updated(uri: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}


def one_of_each() -> Server:
    server = Server("test")
    for add, _, _ in CHANGES.values():
        add(server, "first")
    return server


@pytest.mark.parametrize("kind", CHANGES)
async def test_added_component_is_announced(kind: str) -> None:
    server, (add, _, announced) = one_of_each(), CHANGES[kind]
    async with ScriptedClient(server) as client:
        add(server, "second")
        await quiescence()
        assert client.received_so_far() == [changed(announced)]


@pytest.mark.parametrize("kind", CHANGES)
async def test_removed_component_is_announced_even_the_last_one(kind: str) -> None:
    server, (_, remove, announced) = one_of_each(), CHANGES[kind]
    async with ScriptedClient(server) as client:
        remove(server, "first")
        await quiescence()
        assert client.received_so_far() == [changed(announced)]


@pytest.mark.parametrize("kind", CHANGES)
async def test_changes_of_one_turn_are_announced_once(kind: str) -> None:
    server, (add, remove, announced) = one_of_each(), CHANGES[kind]
    async with ScriptedClient(server) as client:
        for number in range(100):
            add(server, f"more{number}")
        remove(server, "first")
        await quiescence()
        assert client.received_so_far() == [changed(announced)]


@pytest.mark.parametrize("kind", CHANGES)
async def test_change_from_another_thread_is_announced(kind: str) -> None:
    server, (add, _, announced) = one_of_each(), CHANGES[kind]
    async with ScriptedClient(server) as client:
        await asyncio.to_thread(add, server, "second")
        assert await client.receive() == changed(announced)


async def test_every_list_is_announced_separately() -> None:
    server = one_of_each()
    async with ScriptedClient(server) as client:
        for add, _, _ in CHANGES.values():
            add(server, "second")
        await quiescence()
        assert client.received_so_far() == [changed("tools"), changed("resources"), changed("prompts")]


async def test_only_initialized_sessions_are_notified() -> None:
    server = one_of_each()
    async with ScriptedClient(server) as first, ScriptedClient(server) as second:
        fresh, initializing, gone = (ScriptedClient(server) for _ in range(3))
        await initializing.initialize()
        async with gone:
            pass
        server.tools.add(lambda: None, name="second")
        await quiescence()
        received = [client.received_so_far() for client in (first, second, fresh, initializing, gone)]
        assert received == [[changed("tools")], [changed("tools")], [], [], []]


@pytest.mark.parametrize("switch", ["tools.listChanged", "tools"])
async def test_disabled_list_changes_are_not_announced(switch: str) -> None:
    server = Server("test", capabilities={switch: False})
    async with ScriptedClient(server) as client:
        server.tools.add(lambda: None, name="first")
        await quiescence()
        assert client.received_so_far() == []


def test_changes_without_a_loop_or_client_are_ignored() -> None:
    server = one_of_each()
    server.tools.remove("first")
    server.resource_updated("r://first")
    assert len(server.notifier) == 0


async def test_subscriber_is_notified_until_it_unsubscribes() -> None:
    server = one_of_each()
    async with ScriptedClient(server) as client:
        assert await client.result("resources/subscribe", uri="r://first") == {}
        server.resource_updated("r://first")
        await quiescence()
        first = client.received_so_far()
        assert await client.result("resources/unsubscribe", uri="r://first") == {}
        server.resource_updated("r://first")
        await quiescence()
        assert (first, client.received_so_far()) == ([updated("r://first")], [])


async def test_update_is_sent_once_per_turn_to_its_subscribers_only() -> None:
    server = one_of_each()
    async with ScriptedClient(server) as client, ScriptedClient(server) as other:
        await client.result("resources/subscribe", uri="first://7")
        for uri in ("first://7", "first://8", "first://7"):
            server.resource_updated(uri)
        await quiescence()
        assert (client.received_so_far(), other.received_so_far()) == ([updated("first://7")], [])


async def test_update_from_another_thread_is_sent() -> None:
    server = one_of_each()
    async with ScriptedClient(server) as client:
        await client.result("resources/subscribe", uri="r://first")
        await asyncio.to_thread(server.resource_updated, "r://first")
        assert await client.receive() == updated("r://first")


async def test_subscriber_is_not_notified_before_it_is_initialized() -> None:
    server = one_of_each()
    client = ScriptedClient(server)
    await client.initialize()
    await client.result("resources/subscribe", uri="r://first")
    server.resource_updated("r://first")
    await quiescence()
    assert client.received_so_far() == []


@pytest.mark.parametrize(("uri", "code"), [("r://nothing", -32002), ("no uri", -32602)])
async def test_subscription_to_an_unknown_resource_is_refused(uri: str, code: int) -> None:
    async with ScriptedClient(one_of_each()) as client:
        error = await client.error("resources/subscribe", uri=uri)
        assert (error["code"], error["data"]) == (code, {"uri": uri})


async def test_unsubscribing_without_a_subscription_is_harmless() -> None:
    async with ScriptedClient(one_of_each()) as client:
        assert await client.result("resources/unsubscribe", uri="r://first") == {}
