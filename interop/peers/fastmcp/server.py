"""The fixtures of the official suite on fastmcp, with its classes for tools, resources and prompts.

Not implemented, because fastmcp has no API for it: subscriptions to resources, and `subscriptions/listen` on
the newest revision.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from base64 import b64decode
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from everything import FIXTURES, MORE, PAGE, fields_of, filled
from fastmcp import Context, FastMCP
from fastmcp.prompts import Message, Prompt
from fastmcp.prompts.base import PromptArgument
from fastmcp.resources import Resource, ResourceContent, ResourceResult
from fastmcp.server.dependencies import get_context
from fastmcp.server.event_store import EventStore
from fastmcp.tools import Tool
from fastmcp.tools.base import InputRequiredToolResult, ToolResult
from fixture_server import serve
from questions import ask_later, ask_now

Json = dict[str, Any]

PAUSE = 0.05
NEWEST = "2026-07-28"
TEMPLATE = FIXTURES["templates"][0]

mcp = FastMCP[Any](**FIXTURES["server"], list_page_size=PAGE if MORE else None, dereference_schemas=False)
cancelled = asyncio.Event()


def is_handshake(ctx: Context) -> bool:
    assert ctx.request_context is not None
    return ctx.request_context.protocol_version != NEWEST


async def ask(item: Json, arguments: Json) -> Json | types.InputRequiredResult:
    ctx = get_context()
    if is_handshake(ctx):
        return await ask_now(ctx.session, ctx.request_id, item, arguments)
    return ask_later(ctx.session, item, arguments, ctx.request_state, ctx.input_responses)


# Tools that do something.


async def log_thrice(ctx: Context) -> str:
    await ctx.info("Tool execution started")
    await asyncio.sleep(PAUSE)
    await ctx.info("Tool processing data")
    await asyncio.sleep(PAUSE)
    await ctx.info("Tool execution completed")
    return "Tool with logging executed successfully"


async def log_once(ctx: Context) -> str:
    await ctx.info("A message from the logging tool")
    return "Logged"


async def report_progress(ctx: Context) -> str:
    for progress in (0, 50, 100):
        await ctx.report_progress(progress, 100)
        await asyncio.sleep(PAUSE)
    return "Tool with progress executed successfully"


async def close_stream(ctx: Context) -> str:
    await ctx.close_sse_stream()
    await asyncio.sleep(PAUSE)
    return "Reconnection test completed successfully. If you received this, the client reconnected properly."


async def change_tools(ctx: Context) -> str:
    mcp.add_tool(tool_of({**FIXTURES["tools"][0], "name": "passing_tool"}))
    await ctx.send_notification(types.ToolListChangedNotification())
    return "Added passing_tool"


async def change_prompts(ctx: Context) -> str:
    mcp.add_prompt(prompt_of({**FIXTURES["prompts"][0], "name": "passing_prompt"}))
    await ctx.send_notification(types.PromptListChangedNotification())
    return "Added passing_prompt"


async def work_until_cancelled(ctx: Context) -> str:
    await ctx.report_progress(1, 2)
    try:
        await asyncio.Event().wait()
    finally:
        cancelled.set()
    return "never"


async def await_cancelled(ctx: Context) -> str:
    await cancelled.wait()
    return "cancelled"


ACTS: dict[str, Callable[[Context], Awaitable[str]]] = {
    "test_tool_with_logging": log_thrice,
    "test_logging_tool": log_once,
    "test_tool_with_progress": report_progress,
    "test_reconnection": close_stream,
    "test_trigger_tool_change": change_tools,
    "test_trigger_prompt_change": change_prompts,
    "test_slow": work_until_cancelled,
    "test_await_cancelled": await_cancelled,
}


# Components.


class FixtureTool(Tool):
    fixture: Json

    async def run(self, arguments: Json) -> ToolResult:
        fixture = self.fixture
        if "content" in fixture:
            fixed = {
                key: fixture[key] for key in ("content", "structuredContent", "isError") if key in fixture
            }
            return ToolResult.from_mcp_result(types.CallToolResult.model_validate(fixed))
        if self.name in ACTS:
            return ToolResult(await ACTS[self.name](get_context()))
        answers = await ask(fixture, arguments)
        if not isinstance(answers, dict):
            return InputRequiredToolResult(answers)
        return ToolResult(filled(fixture["says"], fields_of(answers)))


class FixtureResource(Resource):
    fixture: Json

    async def read(self) -> ResourceResult:
        content: Any = self.fixture.get("text") or b64decode(self.fixture["blob"])
        return ResourceResult([ResourceContent(content, mime_type=self.mime_type)])


class FixturePrompt(Prompt):
    fixture: Json

    async def render(self, arguments: Json | None = None) -> Any:
        fields = arguments or {}
        if "rounds" in self.fixture:
            answers = await ask(self.fixture, {})
            if not isinstance(answers, dict):
                return answers
            fields = fields_of(answers)
        shown = filled(self.fixture["messages"], fields)
        messages = [types.PromptMessage.model_validate(message) for message in shown]
        return [Message(message.content, role=message.role) for message in messages]


def tool_of(fixture: Json) -> Tool:
    return FixtureTool(
        name=fixture["name"],
        description=fixture["description"],
        parameters=fixture["inputSchema"],
        output_schema=fixture.get("outputSchema"),
        fixture=fixture,
    )


def prompt_of(fixture: Json) -> Prompt:
    arguments = [PromptArgument.model_validate(argument) for argument in fixture["arguments"]]
    return FixturePrompt(
        name=fixture["name"], description=fixture["description"], arguments=arguments, fixture=fixture
    )


@mcp.resource(TEMPLATE["uriTemplate"], name=TEMPLATE["name"], mime_type=TEMPLATE["mimeType"])
def template(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@mcp.completion
async def complete(reference: Any, argument: Any, context: Any) -> list[str]:
    return [word for word in FIXTURES["suggestions"] if word.startswith(argument.value)]


def build() -> FastMCP[Any]:
    # Logging and sampling are deprecated in the newest revision, so the SDK warns about each use.
    warnings.simplefilter("ignore")
    for fixture in FIXTURES["tools"]:
        if fixture["name"] != "test_update_watched_resource":
            mcp.add_tool(tool_of(fixture))
    for fixture in FIXTURES["resources"]:
        shown = {"uri": fixture["uri"], "name": fixture["name"], "mime_type": fixture["mimeType"]}
        mcp.add_resource(FixtureResource(**shown, description=fixture["description"], fixture=fixture))
    for fixture in FIXTURES["prompts"]:
        mcp.add_prompt(prompt_of(fixture))
    return mcp


def main() -> None:
    serve(
        __doc__,
        on_stdio=lambda: build().run("stdio", show_banner=False),
        make_app=lambda: build().http_app(path="/mcp", event_store=EventStore(), retry_interval=100),
    )


if __name__ == "__main__":
    main()
