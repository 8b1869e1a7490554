"""pydantic-ai: a toolset of an agent, with answers to elicitation, sampling and roots."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastmcp.client.elicitation import ElicitResult
from pydantic_ai.mcp import MCPToolset
from steps import CAPABILITIES, CONTEXT, TARGET, Actions, main

ANSWERS = CONTEXT.get("answers", {})


async def elicit(message: str, response_type: Any, params: Any, context: Any) -> Any:
    action = ANSWERS.get("elicitation", "accept")
    properties = (getattr(params, "requested_schema", None) or {}).get("properties", {})
    defaults = {name: schema["default"] for name, schema in properties.items() if "default" in schema}
    return ElicitResult(action=action, content=defaults if action == "accept" else None)


async def sample(messages: Any, params: Any, context: Any) -> str:
    return str(ANSWERS.get("sampling", {}).get("text", "text"))


def handlers() -> dict[str, Any]:
    """A capability is declared by its handler."""
    handlers_by_option: dict[str, Any] = {}
    if "elicitation" in CAPABILITIES:
        handlers_by_option["elicitation_handler"] = elicit
    if "sampling" in CAPABILITIES:
        handlers_by_option["sampling_handler"] = sample
    if "roots" in CAPABILITIES:
        handlers_by_option["roots"] = [root["uri"] for root in ANSWERS.get("roots", [])]
    return handlers_by_option


@asynccontextmanager
async def connect() -> AsyncIterator[Actions]:
    async with MCPToolset(TARGET, tool_error_behavior="error", read_timeout=10, **handlers()) as toolset:

        async def list_tools() -> dict[str, Any]:
            return {tool.name: tool.input_schema for tool in await toolset.list_tools()}

        async def call_tool(name: str, arguments: dict[str, Any] | None = None) -> None:
            await toolset.direct_call_tool(name, arguments or {})

        yield {
            "list_tools": list_tools,
            "call_tool": call_tool,
            "list_resources": toolset.list_resources,
            "list_templates": toolset.list_resource_templates,
            "read_resource": toolset.read_resource,
            "list_prompts": toolset.list_prompts,
            "get_prompt": toolset.get_prompt,
        }


main(
    connect,
    (
        *("list_tools", "call_tool", "list_resources", "list_templates", "read_resource"),
        *("list_prompts", "get_prompt"),
    ),
    ("elicitation", "sampling", "roots"),
)
