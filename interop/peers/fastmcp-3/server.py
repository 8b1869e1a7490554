"""Fixtures of the official suite on version 3 of fastmcp, with its decorators.

Not implemented, because this version has no API for it: completion, and subscriptions to resources.
"""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import dataclass
from typing import Any

from everything import FIXTURES
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.utilities.types import Image
from fixture_server import serve

mcp: FastMCP[Any] = FastMCP(**FIXTURES["server"])
TOOLS = {fixture["name"]: fixture for fixture in FIXTURES["tools"]}
RESOURCES = {fixture["uri"]: fixture for fixture in FIXTURES["resources"]}


@dataclass
class User:
    username: str
    email: str


@mcp.tool
def test_simple_text() -> str:
    return str(TOOLS["test_simple_text"]["content"][0]["text"])


@mcp.tool
def test_image_content() -> Image:
    block = TOOLS["test_image_content"]["content"][0]
    return Image(data=b64decode(block["data"]), format="png")


@mcp.tool
def test_error_handling() -> str:
    raise ToolError(TOOLS["test_error_handling"]["content"][0]["text"])


@mcp.tool
async def test_tool_with_logging(ctx: Context) -> str:
    await ctx.info("Tool execution started")
    await ctx.info("Tool execution completed")
    return "Tool with logging executed successfully"


@mcp.tool
async def test_tool_with_progress(ctx: Context) -> str:
    for progress in (0, 50, 100):
        await ctx.report_progress(progress, 100)
    return "Tool with progress executed successfully"


@mcp.tool
async def test_sampling(prompt: str, ctx: Context) -> str:
    return f"LLM response: {(await ctx.sample(prompt, max_tokens=100)).text}"


@mcp.tool
async def test_elicitation(message: str, ctx: Context) -> str:
    answer = await ctx.elicit(message, response_type=User)
    return f"User response: {answer.action}"


@mcp.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    return str(RESOURCES["test://static-text"]["text"])


@mcp.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    return b64decode(RESOURCES["test://static-binary"]["blob"])


@mcp.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@mcp.prompt
def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


@mcp.prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


if __name__ == "__main__":
    serve(
        __doc__,
        on_stdio=lambda: mcp.run("stdio", show_banner=False),
        make_app=lambda: mcp.http_app(path="/mcp"),
    )
