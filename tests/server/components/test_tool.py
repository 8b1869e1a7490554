"""Tools: definitions, and the outcomes of calls."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from assay import AskError, Icon, RegistrationError, RpcError, Server, ToolAnnotations, ToolError
from tests.server.scripted import BATCHING, FIRST, NEWEST, STRUCTURED, ask, call


def failing(error: BaseException) -> Server:
    server = Server("test")

    @server.tool
    async def fail() -> None:
        raise error

    return server


async def test_definition_is_complete() -> None:
    server = Server("test")

    @server.tool(
        name="add.up",
        title="Add",
        description="Adds",
        annotations={"readOnlyHint": True, "title": "Sum"},
        icons=[Icon("https://example.com/a.png", "image/png", ["48x48"], "dark")],
        meta={"com.example/a": 1},
    )
    def add(a: int) -> None: ...

    assert (await ask(server, "tools/list"))["result"] == {
        "tools": [
            {
                "name": "add.up",
                "title": "Add",
                "description": "Adds",
                "inputSchema": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}},
                    "required": ["a"],
                    "additionalProperties": False,
                },
                "annotations": {"title": "Sum", "readOnlyHint": True},
                "icons": [
                    {
                        "src": "https://example.com/a.png",
                        "mimeType": "image/png",
                        "sizes": ["48x48"],
                        "theme": "dark",
                    }
                ],
                "_meta": {"com.example/a": 1},
            }
        ]
    }


async def test_unset_fields_are_omitted() -> None:
    server = Server("test")
    server.tools.add(lambda: None, name="bare")
    assert (await ask(server, "tools/list"))["result"] == {
        "tools": [
            {
                "name": "bare",
                "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
            }
        ]
    }


def test_description_is_the_summary_of_the_docstring() -> None:
    server = Server("test")

    @server.tool
    def add() -> None:
        """Add two numbers."""

    assert server.tools.list()[0].description == "Add two numbers."


def test_decorator_returns_the_function_itself() -> None:
    server = Server("test")

    def first() -> None: ...

    def second() -> None: ...

    assert (server.tool(first) is first, server.tool(title="Two")(second) is second) == (True, True)


@pytest.mark.parametrize("name", ["a", "A-b_c.9", "x" * 128, "...", "_"])
def test_valid_name_is_accepted(name: str) -> None:
    server = Server("test")
    server.tools.add(lambda: None, name=name)
    assert [tool.name for tool in server.tools.list()] == [name]


@pytest.mark.parametrize("name", ["a b", "a/b", "x" * 129, "\u00e4", "a\n", "\u0661", "a,b"])
def test_invalid_name_is_refused(name: str) -> None:
    with pytest.raises(RegistrationError):
        Server("test").tools.add(lambda: None, name=name)


def test_lambda_needs_a_name() -> None:
    with pytest.raises(RegistrationError, match="lambda"):
        Server("test").tools.add(lambda: None)


@pytest.mark.parametrize("annotations", [{"readonlyHint": True}, {"readOnlyHint": "yes"}, {"title": 1}])
def test_annotations_are_checked(annotations: dict[str, Any]) -> None:
    with pytest.raises(RegistrationError, match="bad annotations"):
        Server("test").tools.add(lambda: None, name="a", annotations=annotations)


def test_annotations_may_be_a_value() -> None:
    server, hints = Server("test"), ToolAnnotations(destructive_hint=False)
    server.tools.add(lambda: None, name="a", annotations=hints)
    assert server.tools.list()[0].annotations is hints


async def test_unknown_tool_is_invalid_params() -> None:
    server = failing(ToolError("not reached"))
    assert await call(server, "missing") == {"code": -32602, "message": "unknown tool: missing"}


@pytest.mark.parametrize("revision", [FIRST, BATCHING, STRUCTURED])
async def test_invalid_arguments_are_a_protocol_error_in_older_revisions(revision: str) -> None:
    answer = await call(failing(ToolError("not reached")), "fail", {"a": 1}, revision=revision)
    assert answer["code"] == -32602


async def test_invalid_arguments_are_a_tool_error_in_newer_revisions() -> None:
    answer = await call(failing(ToolError("not reached")), "fail", {"a": 1}, revision=NEWEST)
    assert (answer["isError"], "fail" in answer["content"][0]["text"]) == (True, True)


@pytest.mark.parametrize("params", [{"name": "fail"}, {"name": "fail", "arguments": None}])
async def test_missing_and_null_arguments_are_empty(params: dict[str, Any]) -> None:
    answer = await ask(failing(ToolError("reached")), "tools/call", **params)
    assert answer["result"] == {"content": [{"type": "text", "text": "reached"}], "isError": True}


@pytest.mark.parametrize("params", [{}, {"name": 1}, {"name": None}])
async def test_call_without_a_name_is_invalid_params(params: dict[str, Any]) -> None:
    assert (await ask(failing(ToolError("not reached")), "tools/call", **params))["error"]["code"] == -32602


@pytest.mark.parametrize("error", [ToolError("no such city"), AskError("no such city")])
@pytest.mark.parametrize("group", [False, True])
async def test_tool_error_is_sent_to_the_model(error: Exception, group: bool, caplog: Any) -> None:
    raised = ExceptionGroup("inner", [ExceptionGroup("inmost", [error])]) if group else error
    assert await call(failing(raised), "fail") == {
        "content": [{"type": "text", "text": "no such city"}],
        "isError": True,
    }
    assert caplog.records == []


async def test_task_group_with_one_tool_error_is_that_error() -> None:
    server = Server("test")

    async def inner() -> None:
        raise ToolError("no such city")

    @server.tool
    async def fail() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(inner())

    assert (await call(server, "fail"))["content"] == [{"type": "text", "text": "no such city"}]


@pytest.mark.parametrize(
    "error",
    [
        ValueError("secret"),
        KeyError("secret"),
        RecursionError("secret"),
        TimeoutError("secret"),
        ExceptionGroup("secret", [ToolError("secret"), ToolError("secret")]),
        ExceptionGroup("secret", [ValueError("secret")]),
    ],
)
async def test_other_failure_is_logged_only(error: Exception, caplog: Any) -> None:
    assert await call(failing(error), "fail") == {
        "content": [{"type": "text", "text": "tool fail failed: internal error"}],
        "isError": True,
    }
    (record,) = caplog.records
    assert (record.name, record.levelname, record.message) == ("assay", "ERROR", "tool fail failed")
    assert "secret" in caplog.text


async def test_rpc_error_of_a_tool_is_the_answer() -> None:
    error = RpcError(-32000, "come back later", {"seconds": 5})
    assert await call(failing(error), "fail") == {
        "code": -32000,
        "message": "come back later",
        "data": {"seconds": 5},
    }


async def test_registry_can_be_used_from_code() -> None:
    server = Server("test")

    def add(a: int, b: int = 1) -> int:
        return a + b

    server.tools.add(add)
    assert (len(server.tools), [tool.name for tool in server.tools.list()]) == (1, ["add"])
    assert (await server.tools.call("add", {"a": 1})).content[0].text == '{"result":2}'  # type: ignore[union-attr]
    server.tools.remove("add")
    assert (len(server.tools), server.tools.list()) == (0, [])


async def test_calling_an_unknown_tool_from_code_is_an_error() -> None:
    with pytest.raises(RpcError) as caught:
        await Server("test").tools.call("missing")
    assert caught.value.code == -32602


def test_removing_an_unknown_tool_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        Server("test").tools.remove("missing")


def test_name_is_free_again_after_removal() -> None:
    server = failing(ToolError("not reached"))
    with pytest.raises(RegistrationError, match="'fail'"):
        server.tools.add(lambda: None, name="fail")
    server.tools.remove("fail")
    server.tools.add(lambda: None, name="fail")
    assert len(server.tools) == 1


@pytest.mark.parametrize("concurrency", [0, -1])
def test_concurrency_must_be_positive(concurrency: int) -> None:
    with pytest.raises(RegistrationError, match="concurrency"):
        Server("test").tools.add(lambda: None, name="a", concurrency=concurrency)
