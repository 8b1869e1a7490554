"""Resources and templates: definitions, contents and access."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

import pydantic
import pytest

from assay import (
    Annotations,
    Contents,
    Icon,
    RegistrationError,
    ResourceNotFound,
    RpcError,
    Scope,
    Server,
    ToolError,
)
from tests.server.scripted import FIRST, ScriptedClient, ask


@dataclasses.dataclass
class Point:
    x: int


class Model(pydantic.BaseModel):
    a: int


def serving(value: Any, **options: Any) -> Server:
    server = Server("test")

    @server.resource("data://it", **options)
    async def it() -> Any:
        return value

    return server


async def read(server: Server, uri: str, **options: Any) -> Any:
    answer = await ask(server, "resources/read", uri=uri, **options)
    return answer["result"]["contents"] if "result" in answer else answer["error"]


@pytest.mark.parametrize(
    ("value", "mime_type", "contents"),
    [
        ("text", None, {"text": "text", "mimeType": "text/plain"}),
        ("", None, {"text": "", "mimeType": "text/plain"}),
        ("# a", "text/markdown", {"text": "# a", "mimeType": "text/markdown"}),
        (b"\x00\xff", None, {"blob": "AP8=", "mimeType": "application/octet-stream"}),
        (bytearray(b"\xff"), "image/png", {"blob": "/w==", "mimeType": "image/png"}),
        (memoryview(b"\xff"), None, {"blob": "/w==", "mimeType": "application/octet-stream"}),
        ({"a": [1]}, None, {"text": '{\n  "a": [\n    1\n  ]\n}', "mimeType": "application/json"}),
        ([], None, {"text": "[]", "mimeType": "application/json"}),
        (None, None, {"text": "null", "mimeType": "application/json"}),
        (3, "text/x-number", {"text": "3", "mimeType": "text/x-number"}),
        (Point(1), None, {"text": '{\n  "x": 1\n}', "mimeType": "application/json"}),
        (Model(a=1), None, {"text": '{\n  "a": 1\n}', "mimeType": "application/json"}),
        (
            ["a.txt", PurePosixPath("b")],
            "inode/directory",
            {"text": "a.txt\nb", "mimeType": "inode/directory"},
        ),
        ([], "inode/directory", {"text": "", "mimeType": "inode/directory"}),
    ],
)
async def test_value_becomes_contents(value: Any, mime_type: str | None, contents: dict[str, Any]) -> None:
    assert await read(serving(value, mime_type=mime_type), "data://it") == [{"uri": "data://it", **contents}]


async def test_contents_are_sent_unchanged() -> None:
    parts = [Contents("data://a", text="a"), Contents("data://b", blob=b"", mime_type="image/png")]
    assert await read(serving(parts), "data://it") == [
        {"uri": "data://a", "text": "a"},
        {"uri": "data://b", "blob": "", "mimeType": "image/png"},
    ]
    assert await read(serving(parts[0]), "data://it") == [{"uri": "data://a", "text": "a"}]


async def test_definition_is_complete() -> None:
    server = serving(
        "",
        name="it",
        title="It",
        description="About it",
        mime_type="text/plain",
        size=0,
        annotations={"audience": ["user"], "priority": 1, "lastModified": "2025-01-12T15:00:58Z"},
        icons=[Icon("https://example.com/a.png")],
        meta={"com.example/a": 1},
    )
    assert (await ask(server, "resources/list"))["result"] == {
        "resources": [
            {
                "uri": "data://it",
                "name": "it",
                "title": "It",
                "description": "About it",
                "mimeType": "text/plain",
                "size": 0,
                "annotations": {
                    "audience": ["user"],
                    "priority": 1.0,
                    "lastModified": "2025-01-12T15:00:58Z",
                },
                "icons": [{"src": "https://example.com/a.png"}],
                "_meta": {"com.example/a": 1},
            }
        ]
    }


async def test_templates_are_listed_separately() -> None:
    server = Server("test")

    @server.resource("notes://{name}", mime_type="text/markdown", annotations=Annotations(priority=0))
    def note(name: str) -> str:
        """A note."""
        return name

    assert (await ask(server, "resources/list"))["result"] == {"resources": []}
    assert (await ask(server, "resources/templates/list"))["result"] == {
        "resourceTemplates": [
            {
                "uriTemplate": "notes://{name}",
                "name": "note",
                "description": "A note.",
                "mimeType": "text/markdown",
                "annotations": {"priority": 0.0},
            }
        ]
    }


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"size": -1}, "size"),
        ({"annotations": {"priority": 1.5}}, "priority"),
        ({"annotations": {"audience": ["system"]}}, "audience"),
        ({"annotations": {"lastModified": "yesterday"}}, "last_modified"),
        ({"annotations": {"priority": "high"}}, "priority"),
    ],
)
def test_declaration_is_checked(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(RegistrationError, match=problem):
        serving("", **options)


@pytest.mark.parametrize(
    "uri", ["", "it", "data:", "data://a b", "data://\u00e4", "/path", "http//x", "1a://b"]
)
def test_invalid_uri_is_refused(uri: str) -> None:
    with pytest.raises(RegistrationError):
        Server("test").resources.add(uri, lambda: "", name="a")


@pytest.mark.parametrize("uri", ["a://{", "a://}", "a://{}", "a://{a b}"])
def test_invalid_template_is_refused(uri: str) -> None:
    with pytest.raises(RegistrationError):
        Server("test").resources.add(uri, lambda a="": a, name="a")


def test_template_has_no_size() -> None:
    with pytest.raises(RegistrationError, match="size"):
        Server("test").resources.add("a://{b}", lambda b: b, size=3)


@pytest.mark.parametrize(
    ("uri", "function", "message"),
    [
        ("a://{b}", lambda c="": c, "resource a://{b}: <lambda> has no parameter for {b}"),
        ("a://{b}/{c}", lambda: "", "resource a://{b}/{c}: <lambda> has no parameter for {b, c}"),
        ("a://{b}", lambda b, c: b, "resource a://{b}: the URI has no variable for parameter c"),
        ("a://b", lambda b: b, "resource a://b: the URI has no variable for parameter b"),
    ],
)
def test_variables_that_do_not_match_the_parameters_are_named(uri: str, function: Any, message: str) -> None:
    with pytest.raises(RegistrationError) as caught:
        Server("test").resources.add(uri, function)
    assert str(caught.value).startswith(message + ": ")


async def test_parameter_with_a_default_needs_no_variable() -> None:
    server = Server("test")
    server.resources.add("a://{b}", lambda b, c="d": b + c)
    assert (await read(server, "a://x"))[0]["text"] == "xd"


async def test_variables_reach_the_function_typed_and_decoded() -> None:
    server = Server("test")

    @server.resource("shop://{city}/{count}/{open}")
    def shops(city: str, count: int, open: bool) -> str:
        return repr((city, count, open))

    assert (await read(server, "shop://S%C3%A3o%20Paulo/3/true"))[0]["text"] == "('S\u00e3o Paulo', 3, True)"


async def test_variable_of_another_type_is_invalid_params_with_the_uri() -> None:
    server = Server("test")

    @server.resource("shop://{count}")
    def shops(count: int) -> str:
        raise AssertionError("not reached")

    error = await read(server, "shop://many")
    assert (error["code"], error["data"]) == (-32602, {"uri": "shop://many"})


@pytest.mark.parametrize(
    "path", ["..", "%2e%2e", "%2E%2e", "..%2Fetc", "a%2F..%2Fb", "a%5Cb", "%2Fetc%2Fpasswd", "%00", "a%0Ab"]
)
async def test_path_traversal_never_reaches_the_function(path: str) -> None:
    server = Server("test")

    @server.resource("notes://{name}")
    def note(name: str) -> str:
        raise AssertionError("not reached")

    error = await read(server, f"notes://{path}")
    assert (error["code"], error["data"]) in [(code, {"uri": f"notes://{path}"}) for code in (-32602, -32002)]


@pytest.mark.parametrize("uri", ["", "it", "data://a b", "data://%zz", "a" * 10_000 + ":b"])
async def test_uri_is_checked_before_any_code_of_the_author(uri: str) -> None:
    def access(uri: str, scope: Scope) -> bool:
        raise AssertionError("not reached")

    server = Server("test", access=access)
    server.resources.add("a://{b}", lambda b: b)
    error = await read(server, uri)
    assert (error["code"], error["data"]) == (-32602, {"uri": uri[:256]})


@pytest.mark.parametrize("revision", [FIRST, None])
async def test_unknown_uri_is_not_found(revision: str | None) -> None:
    assert await read(serving(""), "data://other", revision=revision) == {
        "code": -32002,
        "message": "resource not found: data://other",
        "data": {"uri": "data://other"},
    }


def raising(error: Exception, **options: Any) -> Server:
    server = Server("test")

    @server.resource("data://it", **options)
    async def it() -> str:
        raise error

    return server


@pytest.mark.parametrize(
    "error", [ValueError("secret"), ExceptionGroup("secret", [OSError("secret"), OSError()])]
)
async def test_failed_read_is_an_internal_error_with_the_uri_only(error: Exception, caplog: Any) -> None:
    assert await read(raising(error), "data://it") == {
        "code": -32603,
        "message": "internal error",
        "data": {"uri": "data://it"},
    }
    assert [record.message for record in caplog.records] == ["resources/read failed"]


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (
            ResourceNotFound("data://gone"),
            {"code": -32002, "message": "resource not found: data://gone", "data": {"uri": "data://gone"}},
        ),
        (RpcError(-32000, "later"), {"code": -32000, "message": "later", "data": {"uri": "data://it"}}),
        (RpcError(-32000, "later", {"own": 1}), {"code": -32000, "message": "later", "data": {"own": 1}}),
        (ToolError("public"), {"code": -32603, "message": "public", "data": {"uri": "data://it"}}),
    ],
)
async def test_rpc_error_is_the_answer(error: Exception, answer: dict[str, Any], caplog: Any) -> None:
    assert await read(raising(error), "data://it") == answer
    assert caplog.records == []


@pytest.mark.parametrize("value", [object(), {"a": object()}, "\ud800"])
async def test_value_that_is_not_json_is_an_internal_error(value: Any) -> None:
    assert (await read(serving(value), "data://it"))["code"] == -32603


def by_principal(uri: str, scope: Scope) -> bool:
    return bool(scope.principal == "ada")


async def by_principal_later(uri: str, scope: Scope) -> bool:
    await asyncio.wait([asyncio.ensure_future(asyncio.to_thread(lambda: None))])
    return bool(scope.principal == "ada")


def guarded(place: str, access: Callable[..., Any]) -> Server:
    server = Server("test", access=access if place == "server" else None)
    options = {"access": access} if place == "resource" else {}
    server.resources.add("data://it", lambda: "reached", **options)
    server.resources.add("note://{name}", lambda name: "reached", **options)
    return server


@pytest.mark.parametrize("uri", ["data://it", "note://a"])
@pytest.mark.parametrize("access", [by_principal, by_principal_later])
@pytest.mark.parametrize("place", ["server", "resource"])
@pytest.mark.parametrize("method", ["resources/read", "resources/subscribe"])
async def test_denied_resource_is_not_found(
    method: str, place: str, access: Callable[..., Any], uri: str
) -> None:
    server = guarded(place, access)
    async with ScriptedClient(server, principal="ada") as ada, ScriptedClient(server, principal="eve") as eve:
        assert "result" in await ada.request(method, uri=uri)
        assert await eve.error(method, uri=uri) == {
            "code": -32002,
            "message": f"resource not found: {uri}",
            "data": {"uri": uri},
        }


async def test_error_of_an_access_hook_is_the_answer() -> None:
    def access(uri: str, scope: Scope) -> bool:
        raise RpcError(-32001, "log in first")

    error = await read(guarded("resource", access), "data://it")
    assert error == {"code": -32001, "message": "log in first", "data": {"uri": "data://it"}}


async def test_registry_can_be_used_from_code() -> None:
    server = Server("test")
    server.resources.add("data://it", lambda: "it", name="it")
    server.resources.add("note://{name}", lambda name: name, name="note")
    assert [definition.uri for definition in server.resources.list()] == ["data://it"]
    assert [definition.uri_template for definition in server.resources.templates()] == ["note://{name}"]
    assert await server.resources.read("note://a") == [Contents("note://a", text="a", mime_type="text/plain")]
    server.resources.remove("note://{name}")
    server.resources.remove("data://it")
    assert (len(server.resources), server.resources.list(), server.resources.templates()) == (0, [], [])


@pytest.mark.parametrize(("uri", "code"), [("data://it", -32002), ("no uri", -32602)])
async def test_reading_an_unknown_uri_from_code_is_an_error(uri: str, code: int) -> None:
    with pytest.raises(RpcError) as caught:
        await Server("test").resources.read(uri)
    assert caught.value.code == code


async def test_static_resource_takes_precedence_over_a_template() -> None:
    server = Server("test")
    server.resources.add("note://{name}", lambda name: "template")
    server.resources.add("note://a", lambda: "static")
    assert [(await read(server, uri))[0]["text"] for uri in ("note://a", "note://b")] == [
        "static",
        "template",
    ]


@pytest.mark.parametrize(
    "uri", ["file:///a.txt", "https://example.com/a", "git://repo/a", "own+x.y-1://a", "urn:isbn:1"]
)
async def test_any_scheme_is_served(uri: str) -> None:
    server = Server("test")
    server.resources.add(uri, lambda: "here")
    assert (await read(server, uri))[0]["text"] == "here"
