"""Capabilities: declared for registered components, unless switched on or off."""

from __future__ import annotations

from typing import Any

import pytest

from assay import Icon, RegistrationError, Server
from tests.server.scripted import BATCHING, FIRST, NEWEST, STRUCTURED, ScriptedClient, ask

METHODS = {
    "tools": ["tools/list", "tools/call"],
    "resources": ["resources/list", "resources/templates/list", "resources/read", "resources/subscribe"],
    "resources.subscribe": ["resources/subscribe", "resources/unsubscribe"],
    "prompts": ["prompts/list", "prompts/get"],
    "completions": ["completion/complete"],
    "logging": ["logging/setLevel"],
}
ALL = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "logging": {},
    "completions": {},
}


def full_server(**capabilities: bool) -> Server:
    server = Server("test", capabilities={name.replace("_", "."): on for name, on in capabilities.items()})
    server.tools.add(lambda: None, name="tool")
    server.resources.add("r://{id}", lambda id: "", name="resource")
    server.prompts.add(lambda city: "", name="prompt")
    server.completion("prompt", "city")(lambda: [])
    return server


async def declared(server: Server, revision: str = NEWEST) -> dict[str, Any]:
    answer = await ScriptedClient(server, revision=revision).initialize()
    return answer["capabilities"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("server", "capabilities"),
    [
        (Server("test"), {"logging": {}}),
        (full_server(), ALL),
        (Server("test", capabilities={"logging": False}), {}),
        (Server("test", capabilities={"tools": True}), {"tools": {"listChanged": True}, "logging": {}}),
        (full_server(tools=False), {name: ALL[name] for name in ALL if name != "tools"}),
        (full_server(resources_subscribe=False), {**ALL, "resources": {"listChanged": True}}),
        (full_server(prompts_listChanged=False), {**ALL, "prompts": {}}),
        (
            full_server(completions=False, prompts=False),
            {n: ALL[n] for n in ("tools", "resources", "logging")},
        ),
    ],
)
async def test_capabilities_follow_registration_and_switches(
    server: Server, capabilities: dict[str, Any]
) -> None:
    assert await declared(server) == capabilities


@pytest.mark.parametrize("revision", [BATCHING, STRUCTURED, NEWEST])
async def test_capabilities_are_the_same_in_every_later_revision(revision: str) -> None:
    assert await declared(full_server(), revision) == ALL


async def test_oldest_revision_has_no_completions_capability() -> None:
    assert await declared(full_server(), FIRST) == {name: ALL[name] for name in ALL if name != "completions"}


async def test_client_without_a_session_is_promised_no_notifications() -> None:
    answer = await ask(
        full_server(),
        "initialize",
        protocolVersion=NEWEST,
        capabilities={},
        clientInfo={"name": "test", "version": "1"},
    )
    assert answer["result"]["capabilities"] == {name: {} for name in ALL}


@pytest.mark.parametrize("capability", METHODS)
async def test_methods_of_a_disabled_capability_are_unknown(capability: str) -> None:
    async with ScriptedClient(full_server(**{capability.replace(".", "_"): False})) as client:
        codes = {method: (await client.error(method))["code"] for method in METHODS[capability]}
        assert codes == dict.fromkeys(METHODS[capability], -32601)


@pytest.mark.parametrize("capability", ["tools", "resources", "prompts", "completions"])
async def test_methods_without_components_are_unknown(capability: str) -> None:
    async with ScriptedClient(Server("test")) as client:
        codes = {method: (await client.error(method))["code"] for method in METHODS[capability]}
        assert codes == dict.fromkeys(METHODS[capability], -32601)


async def test_component_added_later_can_be_called_at_once() -> None:
    server = Server("test")
    async with ScriptedClient(server) as client:
        before = await client.request("tools/list")
        server.tools.add(lambda: None, name="tool")
        after = await client.result("tools/list")
        assert (before["error"]["code"], len(after["tools"])) == (-32601, 1)


@pytest.mark.parametrize(
    ("method", "key"),
    [("tools/list", "tools"), ("resources/templates/list", "resourceTemplates"), ("prompts/list", "prompts")],
)
async def test_empty_list_is_still_served(method: str, key: str) -> None:
    """The capability was declared to the client, so it stays."""
    server = full_server()
    async with ScriptedClient(server) as client:
        server.tools.remove("tool")
        server.resources.remove("r://{id}")
        server.prompts.remove("prompt")
        assert await client.result(method) == {key: []}


@pytest.mark.parametrize("name", ["tool", "tools.subscribe", "logging.listChanged", ""])
def test_unknown_capability_is_refused(name: str) -> None:
    with pytest.raises(RegistrationError, match="unknown capability"):
        Server("test", capabilities={name: True})


async def test_server_introduces_itself() -> None:
    server = Server(
        "weather",
        "1.2.3",
        title="Weather",
        description="Forecasts",
        instructions="Ask for a city.",
        website_url="https://example.com",
        icons=[Icon("https://example.com/a.png")],
    )
    assert await ScriptedClient(server).initialize() == {
        "protocolVersion": NEWEST,
        "capabilities": {"logging": {}},
        "serverInfo": {
            "name": "weather",
            "version": "1.2.3",
            "title": "Weather",
            "description": "Forecasts",
            "websiteUrl": "https://example.com",
            "icons": [{"src": "https://example.com/a.png"}],
        },
        "instructions": "Ask for a city.",
    }


@pytest.mark.parametrize(
    ("requested", "agreed"),
    [
        *((date, date) for date in (FIRST, BATCHING, STRUCTURED, NEWEST)),
        ("2099-01-01", NEWEST),
        ("nonsense", NEWEST),
    ],
)
async def test_revision_is_negotiated(requested: str, agreed: str) -> None:
    client = ScriptedClient(Server("test"), revision=requested)
    answer = await client.initialize()
    assert (answer["protocolVersion"], client.session.peer.revision.date) == (agreed, agreed)
