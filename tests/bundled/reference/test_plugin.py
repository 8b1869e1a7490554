"""Loading and unloading the plugin changes three lists, and clients are notified."""

from __future__ import annotations

import asyncio

import pytest

from assay.bundled.reference import make_server
from assay.bundled.reference.plugin import PROMPT, RESOURCE, TOOL
from assay.revisions.registry import HANDSHAKE
from assay.revisions.revision import Revision
from tests.bundled.reference.driving import client_of, every, text_of
from tests.driving.client import SESSIONED, Client
from tests.driving.describing import DescribingClient

CHANGED = [f"notifications/{kind}/list_changed" for kind in ("tools", "prompts", "resources")]


async def offered(client: Client) -> tuple[bool, bool, bool]:
    tools = {tool["name"] for tool in await every(client, "tools")}
    prompts = {prompt["name"] for prompt in await every(client, "prompts")}
    resources = {resource["uri"] for resource in await every(client, "resources")}
    return TOOL in tools, PROMPT in prompts, RESOURCE in resources


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
@pytest.mark.parametrize("transport", SESSIONED)
async def test_loading_and_unloading_is_announced_to_all(transport: str, revision: Revision) -> None:
    server = make_server()
    async with (
        client_of(server, revision, transport, listen=True) as actor,
        client_of(server, revision, transport, listen=True) as other,
    ):
        assert await offered(actor) == (False, False, False)
        for number, tool in enumerate(("load_plugin", "unload_plugin"), 1):
            await actor.call(tool)
            for client in (actor, other):
                for method in CHANGED:
                    await client.received(method, number)
                assert await offered(client) == (tool == "load_plugin",) * 3


async def test_the_plugin_works_while_loaded() -> None:
    async with client_of(make_server(), HANDSHAKE[-1]) as client:
        await client.call("load_plugin")
        assert text_of(await client.call(TOOL, text="abc")) == "cba"
        prompt = await client.result("prompts/get", {"name": PROMPT, "arguments": {"name": "Ada"}})
        assert prompt["messages"][0]["content"]["text"] == "Say hello to Ada."
        assert "Plugin" in (await client.result("resources/read", {"uri": RESOURCE}))["contents"][0]["text"]
        await client.call("unload_plugin")
        assert (await client.error("tools/call", {"name": TOOL, "arguments": {"text": "a"}}))[
            "code"
        ] == -32602
        assert (await client.error("prompts/get", {"name": PROMPT}))["code"] == -32602
        assert (await client.error("resources/read", {"uri": RESOURCE}))["code"] == -32002


async def test_doing_it_twice_changes_nothing() -> None:
    async with client_of(make_server(), HANDSHAKE[-1]) as client:
        assert text_of(await client.call("unload_plugin")) == "The plugin is not loaded"
        for text in ("Loaded", "The plugin is already loaded"):
            assert text_of(await client.call("load_plugin")).startswith(text)
        assert await client.result("ping") == {}
        assert [len(client.of(method)) for method in CHANGED] == [1, 1, 1]


async def test_a_listen_stream_is_notified() -> None:
    server = make_server()
    client = DescribingClient(server)
    requested = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
    listening = asyncio.create_task(client.result("subscriptions/listen", {"notifications": requested}))
    assert (await client.next())["method"] == "notifications/subscriptions/acknowledged"
    await DescribingClient(server).call("load_plugin")
    assert {(await client.next())["method"] for _ in CHANGED} == set(CHANGED)
    server.end_listening()
    await listening
