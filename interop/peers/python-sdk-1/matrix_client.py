"""The client of version 1 of the Python SDK in a matrix."""

import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from matrix_steps import Acts, Task, Unsupported, main
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import AnyUrl


async def on_sampling(context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    content = types.TextContent(type="text", text="sampled by the client")
    return types.CreateMessageResult(role="assistant", content=content, model="matrix")


async def on_elicitation(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"username": "ada", "email": "ada@example.org"})


async def on_progress(progress: float, total: float | None, message: str | None) -> None:
    pass


@asynccontextmanager
async def connect(task: Task) -> AsyncIterator[Acts]:
    if task.revision != types.LATEST_PROTOCOL_VERSION:
        raise Unsupported(f"this SDK offers {types.LATEST_PROTOCOL_VERSION} only")
    async with AsyncExitStack() as stack:
        if task.url:
            read, write, _ = await stack.enter_async_context(streamable_http_client(task.url))
        else:
            parameters = StdioServerParameters(command=task.command[0], args=task.command[1:])
            read, write = await stack.enter_async_context(stdio_client(parameters))
        session = await stack.enter_async_context(
            ClientSession(read, write, sampling_callback=on_sampling, elicitation_callback=on_elicitation)
        )
        await session.initialize()
        yield acts_of(session)


def acts_of(session: ClientSession) -> Acts:
    async def call_tool(name: str, arguments: dict[str, Any] | None = None) -> object:
        return await session.call_tool(name, arguments, progress_callback=on_progress)

    async def complete(ref: dict[str, Any], argument: dict[str, str]) -> object:
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
        return await session.complete(kind.model_validate(ref), argument)

    return {
        "list_tools": session.list_tools,
        "call_tool": call_tool,
        "list_resources": session.list_resources,
        "read_resource": lambda uri: session.read_resource(AnyUrl(uri)),
        "list_templates": session.list_resource_templates,
        "list_prompts": session.list_prompts,
        "get_prompt": session.get_prompt,
        "complete": complete,
        "set_level": session.set_logging_level,
        "ping": session.send_ping,
        "subscribe": lambda uri: session.subscribe_resource(AnyUrl(uri)),
    }


if __name__ == "__main__":
    sys.exit(main(connect))
