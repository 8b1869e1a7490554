"""Custom methods: called by name, with typed parameters, and declared as a capability."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import msgspec
import pydantic
import pytest

from assay import Context, RegistrationError, RpcError, Scope, Server
from assay.revisions.registry import HANDSHAKE, PER_REQUEST, REVISIONS
from assay.revisions.revision import Revision
from tests.driving.describing import SERVER_INFO, describe
from tests.server.scripted import NEWEST, ScriptedClient, ask

DESCRIBED = PER_REQUEST[-1].date


@dataclass
class Choice:
    active: str
    weight: float = 1.0


class Model(pydantic.BaseModel):
    name: str


def make_server() -> Server:
    server = Server("test")

    @server.method("models/select", capability="models", extension="com.example/models")
    async def select(name: str, weight: float = 1.0) -> Choice:
        return Choice(name, weight)

    @server.method("models/none", capability="models")
    def nothing() -> None:
        return None

    return server


async def ask_described(server: Server, method: str, **params: Any) -> Any:
    answer = await server.handle(describe(method, params))
    assert answer is not None
    return json.loads(answer)


@pytest.mark.parametrize("revision", HANDSHAKE, ids=str)
async def test_a_method_takes_its_parameters_and_answers_with_an_object(revision: Revision) -> None:
    async with ScriptedClient(make_server(), revision=revision.date) as client:
        assert await client.result("models/select", name="a", weight=2) == {"active": "a", "weight": 2.0}
        assert await client.result("models/select", name="a", _meta={}, later=1) == {
            "active": "a",
            "weight": 1.0,
        }
        assert await client.result("models/none") == {}


async def test_a_method_works_where_requests_describe_themselves() -> None:
    result = (await ask_described(make_server(), "models/select", name="a"))["result"]
    assert (result["resultType"], result["active"]) == ("complete", "a")
    assert result["_meta"][SERVER_INFO]["name"] == "test"


@pytest.mark.parametrize("params", [{}, {"name": 5}, {"name": "a", "weight": "much"}, {"name": None}])
async def test_invalid_parameters_are_refused(params: dict[str, Any]) -> None:
    answer = await ask(make_server(), "models/select", **params)
    assert answer["error"]["code"] == -32602
    assert answer["error"]["message"].startswith("invalid params: ")


async def test_parameters_may_be_pydantic_models() -> None:
    server = Server("test")

    @server.method("models/add")
    async def add(model: Model) -> Model:
        return model

    assert (await ask(server, "models/add", model={"name": "a"}))["result"] == {"name": "a"}
    assert (await ask(server, "models/add", model={"nam": "a"}))["error"]["code"] == -32602


async def test_a_result_may_have_its_own_meta() -> None:
    server = Server("test")

    @server.method("models/meta")
    async def with_meta() -> dict[str, Any]:
        return {"_meta": {"com.example/x": 1}, "y": 2}

    result = (await ask_described(server, "models/meta"))["result"]
    assert (result["_meta"]["com.example/x"], result["y"]) == (1, 2)
    assert SERVER_INFO in result["_meta"]
    assert (await ask(server, "models/meta"))["result"] == {"_meta": {"com.example/x": 1}, "y": 2}


@pytest.mark.parametrize("value", [[1], "text", 5, object(), {"x": object()}, {"x": "\ud800"}])
async def test_result_other_than_an_object_is_an_internal_error(
    value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server("test")
    server.method("models/bad")(lambda: value)
    assert (await ask(server, "models/bad"))["error"] == {"code": -32603, "message": "internal error"}
    assert "models/bad failed" in caplog.text


async def test_a_method_has_a_context_and_may_raise_errors() -> None:
    server = Server("test")

    @server.method("models/fail")
    async def fail(ctx: Context) -> None:
        raise RpcError(-32050, f"no models in {ctx.revision}")

    answer = await ask(server, "models/fail", revision=NEWEST)
    assert answer["error"] == {"code": -32050, "message": f"no models in {NEWEST}"}


@pytest.mark.parametrize("revision", REVISIONS, ids=str)
def test_a_capability_is_declared_at_the_top_and_an_extension_where_there_are_any(revision: Revision) -> None:
    declared = make_server().custom_methods.declaration(revision)
    extensions = {"extensions": {"com.example/models": {}}} if "extensions" in revision.capabilities else {}
    assert declared == {"models": {}, **extensions}


async def test_initialize_and_discover_declare_custom_methods() -> None:
    server = make_server()
    opened = await ScriptedClient(server).initialize()
    assert opened["capabilities"] == {"logging": {}, "models": {}}
    capabilities = (await ask_described(server, "server/discover"))["result"]["capabilities"]
    assert capabilities == {"logging": {}, "models": {}, "extensions": {"com.example/models": {}}}


async def test_context_has_the_declared_capabilities() -> None:
    server = make_server()

    @server.method("test/declared")
    async def declared(ctx: Context) -> dict[str, Any]:
        return ctx.capabilities

    async with ScriptedClient(server) as client:
        opened = await ScriptedClient(server).initialize()
        assert await client.result("test/declared") == opened["capabilities"]


async def test_a_method_exists_in_its_revisions_only() -> None:
    server = Server("test")
    server.method("models/new", capability="new", revisions=[NEWEST, DESCRIBED])(lambda: {})
    for revision in HANDSHAKE:
        answer = await ask(server, "models/new", revision=revision.date)
        assert ("result" in answer) == (revision.date == NEWEST)
        assert answer.get("error", {"code": -32601})["code"] == -32601
        assert ("new" in server.custom_methods.declaration(revision)) == (revision.date == NEWEST)
    assert "result" in await ask_described(server, "models/new")


async def test_a_method_may_be_added_later() -> None:
    server = Server("test")
    assert (await ask(server, "models/late"))["error"]["code"] == -32601
    server.method("models/late")(lambda: {})
    assert (await ask(server, "models/late"))["result"] == {}


@pytest.mark.parametrize(
    "name",
    [
        "",
        "tools/call",
        "initialize",
        "server/discover",
        "notifications/x",
        "rpc.x",
        "a b",
        "/a",
        "a//b",
        "a" * 129,
    ],
)
def test_invalid_and_reserved_names_are_refused(name: str) -> None:
    with pytest.raises(RegistrationError):
        Server("test").method(name)(lambda: {})


@pytest.mark.parametrize("capability", ["tools", "experimental", "extensions", "completions", "", "a b"])
def test_capabilities_of_the_protocol_are_refused(capability: str) -> None:
    with pytest.raises(RegistrationError):
        Server("test").method("models/list", capability=capability)(lambda: {})


@pytest.mark.parametrize(
    "extension",
    [
        "models",
        "example/models",
        "io.modelcontextprotocol/x",
        "com.mcp.tools/x",
        "com.example/",
        "com.1x/a",
        "-a.b/c",
    ],
)
def test_invalid_and_reserved_extensions_are_refused(extension: str) -> None:
    with pytest.raises(RegistrationError):
        Server("test").method("models/list", extension=extension)(lambda: {})


def test_reserved_label_is_allowed_elsewhere_in_a_prefix() -> None:
    Server("test").method("models/list", extension="com.example.mcp/models")(lambda: {})


def test_a_method_is_registered_once_and_for_known_revisions() -> None:
    server = make_server()
    with pytest.raises(RegistrationError, match="already"):
        server.method("models/none")(lambda: {})
    with pytest.raises(RegistrationError, match="unknown revision"):
        server.method("models/new", revisions=["2000-01-01"])(lambda: {})


def test_a_function_that_cannot_be_called_by_name_is_refused() -> None:
    with pytest.raises(RegistrationError):
        Server("test").method("models/list")(lambda *names: {})


async def test_a_method_can_be_cancelled() -> None:
    server, entered, left = Server("test"), asyncio.Event(), asyncio.Event()

    @server.method("models/train")
    async def train() -> None:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            left.set()

    async with ScriptedClient(server) as client:
        training = asyncio.create_task(client.request("models/train"))
        async with asyncio.timeout(5):
            await entered.wait()
            await client.cancel(2)
            assert await training is None
            await left.wait()


async def test_parameters_are_an_object() -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "models/select", "params": ["a"]}
    answer = await make_server().handle(msgspec.json.encode(message), scope=Scope())
    assert answer is not None
    assert json.loads(answer)["error"]["code"] in (-32600, -32602)
