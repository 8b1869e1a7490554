"""Clients get a reference instead of the text of a failure; the log has both."""

from __future__ import annotations

import re
from typing import Any

import pytest

from assay import AskError, ResourceNotFound, RpcError, Server, ToolError, ToolResult
from assay.middleware import ErrorMasking
from tests.server.scripted import ScriptedClient, ask, call

SECRET = "password 1234"


def masked(error: Exception) -> Server:
    server = Server("test")
    server.use(ErrorMasking())

    @server.tool
    async def fail(size: int = 0) -> None:
        raise error

    @server.tool
    async def report() -> ToolResult:
        return ToolResult([], structured={"secret": SECRET}, is_error=True, meta={"secret": SECRET})

    @server.resource("note://a")
    async def note() -> str:
        raise error

    @server.prompt
    async def prompt() -> str:
        raise error

    return server


USES: dict[str, tuple[str, dict[str, Any]]] = {
    "tool": ("tools/call", {"name": "fail"}),
    "resource": ("resources/read", {"uri": "note://a"}),
    "prompt": ("prompts/get", {"name": "prompt"}),
}
ERRORS = [ToolError(SECRET), AskError(SECRET), RpcError(17, SECRET, {"secret": SECRET}), OSError(SECRET)]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
async def test_text_is_hidden_and_logged(
    use: str, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    method, params = USES[use]
    answer = str(await ask(masked(error), method, **params))
    reference = re.search(r"the request failed \(reference ([0-9a-f]{8})\)", answer)
    assert reference is not None and "1234" not in answer
    line = next(record for record in caplog.records if reference[1] in record.getMessage())
    assert line.name == "assay.middleware" and SECRET in caplog.text


async def test_code_stays() -> None:
    answer = await ask(masked(RpcError(17, SECRET)), "resources/read", uri="note://a")
    assert answer["error"]["code"] == 17


async def test_structured_content_and_meta_of_an_error_are_hidden() -> None:
    assert "1234" not in str(await call(masked(ValueError()), "report"))


async def test_text_that_looks_like_one_about_arguments_of_another_tool_is_hidden() -> None:
    answer = str(await call(masked(ToolError(f"invalid arguments for tool other: {SECRET}")), "fail"))
    assert "1234" not in answer


async def test_errors_of_the_protocol_stay_readable() -> None:
    server = masked(ResourceNotFound("note://a"))
    assert "invalid arguments for tool fail" in str(await call(server, "fail", {"size": "x"}))
    assert "unknown tool: no" in str(await call(server, "no"))
    assert (await ask(server, "no/such"))["error"]["code"] == -32601
    assert "note://a" in str(await ask(server, "resources/read", uri="note://a"))


async def test_results_without_an_error_are_untouched() -> None:
    server = Server("test")
    server.use(ErrorMasking("sorry"))

    @server.tool
    async def add(a: int) -> int:
        return a

    async with ScriptedClient(server) as client:
        assert (await client.call("add", a=1))["structuredContent"] == {"result": 1}
