"""Every call, over every transport and in every revision, on the everything server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypedDict

import msgspec
import pydantic
import pytest

from assay import (
    Client,
    Context,
    InvalidAnswer,
    Progress,
    RpcError,
    Server,
    ServerError,
    ToolError,
    ToolFailed,
)
from assay.model.content import Image, Text
from assay.revisions.registry import DATES
from tests.client.everything import TRANSPORTS, connected

NEWEST, BEFORE = DATES[-1], DATES[-2]
transports = pytest.mark.parametrize("transport", TRANSPORTS)


@pytest.fixture
def calculator() -> Iterator[Server]:
    server = Server("calculator", "1.2.3", instructions="Add.")

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    @server.tool
    async def point(x: int) -> dict[str, int]:
        return {"x": x}

    @server.tool
    async def text() -> str:
        return "[1, 2]"

    yield server


@transports
@pytest.mark.parametrize("revision", DATES)
async def test_every_operation_on_every_transport_and_revision(transport: str, revision: str) -> None:
    async with connected(transport, revision=revision) as client:
        assert client.revision == revision
        assert client.server_info is not None
        assert client.server_info.name == "mcp-conformance-test-server"
        assert {"test_simple_text", "test_image_content"} <= {tool.name for tool in await client.tools()}
        result = await client.call("test_simple_text")
        assert result.text == "This is a simple text response for testing."
        image = (await client.call("test_image_content")).content[0]
        assert isinstance(image, Image) and image.data.startswith(b"\x89PNG")
        assert "test://static-text" in {resource.uri for resource in await client.resources()}
        assert [template.uri_template for template in await client.templates()] == [
            "test://template/{id}/data"
        ]
        contents = await client.read("test://static-text")
        assert contents[0].text == "This is the content of the static text resource."
        assert "test_simple_prompt" in {prompt.name for prompt in await client.prompts()}
        prompt = await client.prompt("test_prompt_with_arguments", arg1="a", arg2="b")
        assert prompt.messages[0].content == Text("Prompt with arguments: arg1='a', arg2='b'")
        completion = await client.complete("arg1", "par", prompt="test_prompt_with_arguments")
        assert completion.values == ["paris", "park", "party"]
        assert await client.ping() >= 0


@transports
async def test_without_a_pin_the_newest_revision_is_used(transport: str) -> None:
    async with connected(transport) as client:
        assert client.revision == NEWEST


@transports
@pytest.mark.parametrize("revision", [BEFORE, NEWEST])
async def test_progress_arrives_in_order_before_the_result(transport: str, revision: str) -> None:
    reports: list[Progress] = []
    async with connected(transport, revision=revision) as client:
        await client.call_tool("test_tool_with_progress", progress=reports.append)
        assert [report.progress for report in reports] == [0, 50, 100]
        assert reports[0].total == 100


async def test_a_coroutine_function_as_progress_callback_has_finished_before_the_call_returns() -> None:
    reports: list[float] = []

    async def slow(report: Progress) -> None:
        await asyncio.get_running_loop().create_task(_nothing())
        reports.append(report.progress)

    async with connected("memory") as client:
        await client.call_tool("test_tool_with_progress", progress=slow)
        assert reports == [0, 50, 100]


async def _nothing() -> None:
    return None


async def test_a_progress_callback_that_fails_does_not_end_the_call() -> None:
    def fail(report: Progress) -> None:
        raise ValueError("no")

    async with connected("memory") as client:
        result = await client.call_tool("test_tool_with_progress", progress=fail)
        assert result.text == "Tool with progress executed successfully"


@transports
async def test_a_tool_that_fails_raises_an_error_with_its_text_and_result(transport: str) -> None:
    async with connected(transport) as client:
        with pytest.raises(ToolError, match="This tool intentionally returns an error") as failure:
            await client.call("test_error_handling")
        assert isinstance(failure.value, ToolFailed)
        assert failure.value.result.is_error
        result = await client.call_tool("test_error_handling", check=False)
        assert result.is_error


@transports
@pytest.mark.parametrize("revision", DATES)
async def test_an_error_of_the_server_has_code_and_message(transport: str, revision: str) -> None:
    async with connected(transport, revision=revision) as client:
        with pytest.raises(RpcError, match="unknown tool") as failure:
            await client.call("no_such_tool")
        assert isinstance(failure.value, ServerError)
        assert failure.value.code == -32602
        with pytest.raises(ServerError):
            await client.request("com.example/unknown")


async def test_every_keyword_of_call_is_an_argument() -> None:
    server = Server("echo")

    @server.tool
    async def echo(name: str, timeout: int, self_: str, progress: bool, arguments: list[int]) -> str:
        return f"{name} {timeout} {self_} {progress} {arguments}"

    async with Client(server) as client:
        result = await client.call("echo", name="n", timeout=1, self_="s", progress=True, arguments=[2])
        assert result.text == "n 1 s True [2]"


@dataclass
class PointClass:
    x: int


class PointStruct(msgspec.Struct):
    x: int


class PointDict(TypedDict):
    x: int


class PointModel(pydantic.BaseModel):
    x: int


@pytest.mark.parametrize("expected", [PointClass, PointStruct, PointModel])
async def test_structured_content_is_decoded_into_classes(calculator: Server, expected: Any) -> None:
    async with Client(calculator) as client:
        point = await client.call_as(expected, "point", x=3)
        assert isinstance(point, expected) and point.x == 3


@pytest.mark.parametrize("revision", DATES)
async def test_plain_values_come_as_such_in_every_revision(calculator: Server, revision: str) -> None:
    async with Client(calculator, revision=revision) as client:
        assert await client.call_as(int, "add", a=1, b=2) == 3
        assert await client.call_as(PointDict, "point", x=3) == {"x": 3}
        assert await client.call_as(str, "text") == "[1, 2]"


async def test_content_that_does_not_fit_the_type_is_an_error_with_the_reason(calculator: Server) -> None:
    async with Client(calculator) as client:
        with pytest.raises(InvalidAnswer, match=r"the result of tool point is not a list: .*object"):
            await client.call_as(list, "point", x=1)


async def test_identity_and_instructions_are_known_after_opening(calculator: Server) -> None:
    async with Client(calculator) as client:
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.version) == ("calculator", "1.2.3")
        assert client.instructions == "Add."
        assert "tools" in client.capabilities


@pytest.mark.parametrize("revision", DATES)
async def test_pages_are_followed(revision: str) -> None:
    server = Server("pages", page_size=2)
    for number in range(5):
        server.tools.add(_nothing, name=f"tool{number}")
    async with Client(server, revision=revision) as client:
        assert len(await client.tools()) == 5


async def test_own_methods_are_requests_with_any_parameters() -> None:
    server = Server("own")

    @server.method("com.example/double")
    async def double(number: int) -> dict[str, int]:
        return {"number": 2 * number}

    async with Client(server) as client:
        assert (await client.request("com.example/double", {"number": 4}))["number"] == 8


async def test_completion_needs_a_prompt_or_a_template() -> None:
    async with connected("memory") as client:
        with pytest.raises(ValueError, match="either prompt= or template="):
            await client.complete("a", "b")


async def test_meta_of_a_call_reaches_the_server(calculator: Server) -> None:
    @calculator.tool
    async def trace(ctx: Context) -> str:
        return str(ctx.meta.get("traceparent"))

    for revision in (BEFORE, NEWEST):
        async with Client(calculator, revision=revision) as client:
            result = await client.call_tool("trace", meta={"traceparent": "00-1-2-01"})
            assert result.text == "00-1-2-01"


async def test_an_argument_in_a_header_is_repeated_over_http() -> None:
    async with connected("http") as client:
        # The first call does not know the schema yet: the server's refusal makes the client read it.
        assert (await client.call("test_header_parameter", region="Zürich")).text == "Looked in Zürich"
        assert (await client.call("test_header_parameter", region=" eu ", depth=3)).text == "Looked in  eu "
