"""The fixtures of the official suite on minimcp, which supports the handshake revisions and has no sessions.

Not implemented, because minimcp has no public API for it: requests to the client (sampling, elicitation),
cancellation, `logging/setLevel`, completion, subscriptions, list changes, pages, resumed streams, and custom
schemas (`json_schema_2020_12_tool`). Its transport does not check Host and Origin; it leaves that to the
framework.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from typing import Any, TypedDict

import anyio
from everything import FIXTURES, MORE, filled
from fixture_server import serve
from mcp import types
from minimcp import MiniMCP, StdioTransport, StreamableHTTPTransport

PAUSE = 0.05

mcp = MiniMCP[Any](**FIXTURES["server"])


# Tools. A return annotation would become an output schema, so these have none.


def answering(content: list[Any], is_error: bool) -> Callable[[], Any]:
    def answer():  # type: ignore[no-untyped-def]
        if is_error:
            raise ValueError(content[0]["text"])
        return types.CallToolResult.model_validate({"content": content}).content

    return answer


for tool in FIXTURES["tools"]:
    # minimcp cannot use the schemas of tools with parameters.
    if "content" in tool and "outputSchema" not in tool and not tool["inputSchema"]["properties"]:
        function = answering(tool["content"], tool.get("isError", False))
        mcp.tool.add(function, name=tool["name"], description=tool["description"])


async def log(data: str) -> None:
    params = types.LoggingMessageNotificationParams(level="info", data=data, logger="fixtures")
    notification = types.LoggingMessageNotification(method="notifications/message", params=params)
    await mcp.context.get_responder().send_notification(types.ServerNotification(notification))


@mcp.tool(description="Logs three messages while it works")
async def test_tool_with_logging():  # type: ignore[no-untyped-def]
    await log("Tool execution started")
    await anyio.sleep(PAUSE)
    await log("Tool processing data")
    await anyio.sleep(PAUSE)
    await log("Tool execution completed")
    return "Tool with logging executed successfully"


@mcp.tool(description="Reports progress three times")
async def test_tool_with_progress():  # type: ignore[no-untyped-def]
    for progress in (0, 50, 100):
        await mcp.context.get_responder().report_progress(progress, 100)
        await anyio.sleep(PAUSE)
    return "Tool with progress executed successfully"


class Sum(TypedDict):
    sum: int


async def test_structured() -> Sum:
    return {"sum": 3}


async def test_slow():  # type: ignore[no-untyped-def]
    await anyio.sleep_forever()


async def test_header_parameter(region: str):  # type: ignore[no-untyped-def]
    return f"Looked around {region}"


if MORE:
    mcp.tool.add(test_structured, description="Answers with structured content")
    mcp.tool.add(test_slow, description="Works for a long time")
    mcp.tool.add(test_header_parameter, description="Has a parameter")


# Resources.


def reading(content: str | bytes) -> Callable[[], str | bytes]:
    return lambda: content


for resource in FIXTURES["resources"]:
    content = resource["text"] if "text" in resource else b64decode(resource["blob"])
    mcp.resource.add(
        reading(content),
        resource["uri"],
        name=resource["name"],
        description=resource["description"],
        mime_type=resource["mimeType"],
    )


@mcp.resource(
    "test://template/{id}/data",
    name="Resource Template",
    description="Data for any id",
    mime_type="application/json",
)
def template(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


# Prompts.

MESSAGES = {prompt["name"]: prompt["messages"] for prompt in FIXTURES["prompts"]}


@mcp.prompt(description="Has no arguments")
def test_simple_prompt() -> Any:
    return MESSAGES["test_simple_prompt"]


@mcp.prompt(description="Has two arguments")
def test_prompt_with_arguments(arg1: str, arg2: str) -> Any:
    return filled(MESSAGES["test_prompt_with_arguments"], {"arg1": arg1, "arg2": arg2})


@mcp.prompt(description="Embeds a resource")
def test_prompt_with_embedded_resource(resourceUri: str) -> Any:
    return filled(MESSAGES["test_prompt_with_embedded_resource"], {"resourceUri": resourceUri})


@mcp.prompt(description="Has an image")
def test_prompt_with_image() -> Any:
    return MESSAGES["test_prompt_with_image"]


def main() -> None:
    serve(
        __doc__,
        on_stdio=lambda: anyio.run(StdioTransport(mcp).run),
        make_app=lambda: StreamableHTTPTransport(mcp).as_starlette("/mcp"),
    )


if __name__ == "__main__":
    main()
