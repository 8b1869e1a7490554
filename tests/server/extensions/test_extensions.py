"""Extensions of a server: declared, negotiated with each client, and part of the method tables."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from assay import Cache, Context, Extension, RegistrationError, Server
from assay.protocol.middleware import Serve
from assay.revisions.registry import HANDSHAKE, REVISIONS
from assay.revisions.revision import Opening, Revision
from assay.server.calls.call import Call
from assay.server.extensions.handlers import ExtensionHandlers
from tests.driving.asgi import AsgiPeer
from tests.driving.describing import DescribingClient, describe, mirrors
from tests.server.scripted import ScriptedClient

NAME = "com.example/models"
DECLARED = {"extensions": {NAME: {}}}
MODELS = Extension(
    NAME,
    requests=["models/list", "models/get"],
    settings={"sizes": 2},
    cacheable=["models/list"],
    mirrored={"models/get": "id"},
)


def make_server(**options: Any) -> Server:
    server = Server("test", cache=Cache(5000, "private"), **options)

    @server.method("models/list", extension=MODELS)
    async def list_models() -> dict[str, Any]:
        return {"models": ["small"]}

    @server.method("models/get", extension=MODELS)
    async def get_model(id: str) -> dict[str, Any]:
        return {"id": id}

    @server.tool
    async def declared(ctx: Context) -> bool:
        return ctx.extension(MODELS) is not None

    return server


async def ask(server: Server, method: str, capabilities: dict[str, Any], **params: Any) -> Any:
    return json.loads(await server.handle(describe(method, params, capabilities=capabilities)) or b"")


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_a_session_uses_an_extension_that_both_sides_declared(revision: Revision) -> None:
    async with ScriptedClient(make_server(), revision=revision.date, capabilities=DECLARED) as client:
        assert await client.result("models/list") == {"models": ["small"]}
        assert "true" in await client.text_of("declared")
    async with ScriptedClient(make_server(), revision=revision.date) as client:
        assert (await client.error("models/list"))["code"] == -32601


async def test_initialize_and_discover_declare_it_with_its_settings() -> None:
    client = ScriptedClient(make_server())
    assert (await client.initialize())["capabilities"]["extensions"] == {NAME: {"sizes": 2}}
    discovered = (await ask(make_server(), "server/discover", {}))["result"]
    assert discovered["capabilities"]["extensions"] == {NAME: {"sizes": 2}}


async def test_each_request_declares_its_client_anew() -> None:
    server = make_server()
    assert (await ask(server, "models/list", DECLARED))["result"]["models"] == ["small"]
    refusal = (await ask(server, "models/list", {}))["error"]
    assert refusal["code"] == -32021
    assert refusal["data"] == {"requiredCapabilities": {"extensions": {NAME: {}}}}


async def test_handlers_know_whether_the_client_declared_it() -> None:
    for capabilities, expected in ((DECLARED, "true"), ({}, "false")):
        answer = await ask(make_server(), "tools/call", capabilities, name="declared", arguments={})
        assert answer["result"]["content"][0]["text"] == expected


async def test_cacheable_methods_have_hints_and_others_have_none() -> None:
    listed = (await ask(make_server(), "models/list", DECLARED))["result"]
    assert (listed["ttlMs"], listed["cacheScope"]) == (5000, "private")
    assert "ttlMs" not in (await ask(make_server(), "models/get", DECLARED, id="a"))["result"]
    async with ScriptedClient(make_server(), capabilities=DECLARED) as client:
        assert "ttlMs" not in await client.result("models/list")


@pytest.mark.parametrize(("header", "code"), [("small", None), ("large", -32020), (None, None)])
async def test_the_name_header_must_not_differ_from_the_parameter(
    header: str | None, code: int | None
) -> None:
    message = describe("models/get", {"id": "small"}, capabilities=DECLARED)
    async with AsgiPeer(make_server().asgi()) as client:
        answer = await client.post(message, headers={**mirrors(message), "mcp-name": header})
        assert answer.json.get("error", {}).get("code") == code


@pytest.mark.parametrize("revision", REVISIONS, ids=str)
async def test_an_extension_is_unknown_in_revisions_that_do_not_have_it(revision: Revision) -> None:
    server = Server("test")
    newer = Extension(NAME, requests=["models/list"], openings=[Opening.PER_REQUEST])
    server.method("models/list", extension=newer)(lambda: {})
    declared = server.direct_call(revision).declaration(revision).get("extensions", {})
    assert (NAME in declared) == ("models/list" in server.tables[revision]) == newer.is_in(revision)


async def test_an_extension_without_methods_is_declared() -> None:
    server = Server("test")
    server.extend(Extension(NAME, settings={"a": 1}))
    assert (await ask(server, "server/discover", {}))["result"]["capabilities"]["extensions"] == {
        NAME: {"a": 1}
    }
    with pytest.raises(RegistrationError, match="already registered"):
        server.extend(Extension(NAME))


def test_methods_and_names_that_are_not_the_authors_are_refused() -> None:
    server = Server("test")
    with pytest.raises(RegistrationError, match="add it to its requests"):
        server.method("models/other", extension=MODELS)(lambda: {})
    with pytest.raises(RegistrationError, match="reserved"):
        server.extend(Extension("io.modelcontextprotocol/models"))


class Followed(ExtensionHandlers):
    """Adds a topic, a method, and a field to every call of a tool."""

    def __init__(self) -> None:
        super().__init__(Extension(NAME, requests=["models/use"], topics=["modelIds"]), {"models/use": use})
        self.topics = {"modelIds": self}

    async def accept(self, keys: list[str], call: Call) -> list[str]:
        self.extension.require(call.peer.capabilities, call.peer.revision)
        return [key for key in keys if key != "secret"]

    def wrap(self, method: str, serve: Serve, revision: Revision) -> Serve:
        async def mark(call: Call) -> Any:
            result = await serve(call)
            result.meta = {"marked": True}
            return result

        return mark if method == "tools/call" else serve


async def use(call: Call) -> dict[str, Any]:
    return {"used": True}


async def test_handlers_add_methods_and_wrap_those_of_the_protocol() -> None:
    server = make_server()
    server.extensions.join(Followed())
    assert (await ask(server, "models/use", DECLARED))["result"]["used"] is True
    assert (await ask(server, "models/use", {}))["error"]["code"] == -32021
    answer = await ask(server, "tools/call", DECLARED, name="declared", arguments={})
    assert answer["result"]["_meta"]["marked"] is True


async def test_listen_streams_carry_the_topics_of_extensions() -> None:
    server = make_server()
    server.extensions.join(Followed())
    client = DescribingClient(server, capabilities=DECLARED)
    params = {"notifications": {"modelIds": ["a", "secret"], "toolsListChanged": True}}
    stream = asyncio.create_task(client.request("subscriptions/listen", params))
    acknowledged = await client.next()
    assert acknowledged["params"]["notifications"] == {"modelIds": ["a"], "toolsListChanged": True}
    for key in ("secret", "b", "a"):
        server.notifier.publish("modelIds", key, "notifications/message", {"level": "info", "data": key})
    assert (await client.next())["params"]["data"] == "a"
    server.end_listening()
    await stream
    refused = await DescribingClient(server, capabilities={}).request("subscriptions/listen", params)
    assert refused["error"]["code"] == -32021
