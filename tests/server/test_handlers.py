"""Handlers in unusual forms, and results for clients without structured content."""

from __future__ import annotations

import functools
import sys
from typing import Any

import pytest

from assay import Server, ToolResult
from tests.server.scripted import FIRST, NEWEST, ask, call


async def test_partial_function_keeps_its_types() -> None:
    def power(base: int, exponent: int) -> int:
        return int(base**exponent)

    server = Server("s")
    server.tools.add(functools.partial(power, exponent=2))
    (tool,) = server.tools.list()
    assert (tool.name, tool.input_schema["properties"]["base"]) == ("power", {"type": "integer"})
    assert (await server.tools.call("power", {"base": 3})).structured == {"result": 9}


@pytest.mark.parametrize(("revision", "content"), [(FIRST, ['{"a":1}']), (NEWEST, [])])
async def test_structured_content_is_sent_to_old_clients_as_text(revision: str, content: Any) -> None:
    server = Server("s")
    server.tools.add(lambda: ToolResult([], {"a": 1}), name="t")
    result = await call(server, "t", revision=revision)
    assert [block["text"] for block in result["content"]] == content


async def test_sys_exit_in_a_handler_does_not_stop_the_server() -> None:
    server = Server("s")

    @server.tool
    async def leave() -> str:
        sys.exit(3)

    @server.tool
    def leave_in_a_thread() -> str:
        sys.exit(3)

    for name in ("leave", "leave_in_a_thread"):
        assert await call(server, name) == {"code": -32603, "message": "internal error"}


async def test_completion_belongs_to_its_prompt() -> None:
    server = Server("s")

    def add() -> None:
        server.prompts.add(lambda city: city, name="p")
        server.completion("p", "city")(lambda value: ["paris"])

    add()
    server.prompts.remove("p")
    add()
    params = {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "city", "value": "p"}}
    reply = await ask(server, "completion/complete", **params)
    assert reply["result"]["completion"]["values"] == ["paris"]
