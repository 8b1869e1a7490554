"""The client of chuk-mcp in a matrix. It has no API for requests of the server, such as sampling."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from chuk_mcp.protocol.messages import (
    send_completion_complete,
    send_initialize,
    send_logging_set_level,
    send_ping,
    send_prompts_get,
    send_prompts_list,
    send_resources_list,
    send_resources_read,
    send_tools_call,
    send_tools_list,
)
from chuk_mcp.protocol.messages.resources import send_resources_subscribe, send_resources_templates_list
from chuk_mcp.protocol.types.versioning import SUPPORTED_VERSIONS
from chuk_mcp.transports.http import StreamableHTTPParameters, StreamableHTTPTransport
from chuk_mcp.transports.stdio import StdioParameters, StdioTransport
from matrix_steps import STEP_TIMEOUT, Acts, NoApi, Task, Unsupported, main

ASKING = ("test_sampling", "test_elicitation")


@asynccontextmanager
async def connect(task: Task) -> AsyncIterator[Acts]:
    if task.revision not in SUPPORTED_VERSIONS:
        raise Unsupported(f"chuk-mcp supports {', '.join(SUPPORTED_VERSIONS)}")
    transport: Any
    if task.url:
        transport = StreamableHTTPTransport(StreamableHTTPParameters(url=task.url, timeout=STEP_TIMEOUT))
    else:
        transport = StdioTransport(StdioParameters(command=task.command[0], args=task.command[1:]))
    async with transport:
        streams = await transport.get_streams()
        result = await send_initialize(*streams, timeout=STEP_TIMEOUT, preferred_version=task.revision)
        transport.set_protocol_version(result.protocolVersion)
        yield acts_of(streams)


def acts_of(streams: tuple[Any, Any]) -> Acts:
    async def call_tool(name: str, arguments: dict[str, Any] | None = None) -> object:
        if name in ASKING:
            raise NoApi("chuk-mcp has no API for requests of the server")
        return await send_tools_call(*streams, name, arguments or {}, timeout=STEP_TIMEOUT)

    async def ping() -> None:
        if not await send_ping(*streams, timeout=STEP_TIMEOUT):
            raise RuntimeError("send_ping returned False")

    return {
        "list_tools": lambda: send_tools_list(*streams, timeout=STEP_TIMEOUT),
        "call_tool": call_tool,
        "list_resources": lambda: send_resources_list(*streams, timeout=STEP_TIMEOUT),
        "read_resource": lambda uri: send_resources_read(*streams, uri, timeout=STEP_TIMEOUT),
        "list_templates": lambda: send_resources_templates_list(*streams, timeout=STEP_TIMEOUT),
        "list_prompts": lambda: send_prompts_list(*streams, timeout=STEP_TIMEOUT),
        "get_prompt": lambda name, arguments=None: send_prompts_get(
            *streams, name, arguments, timeout=STEP_TIMEOUT
        ),
        "complete": lambda ref, argument: send_completion_complete(
            *streams, ref, argument, timeout=STEP_TIMEOUT
        ),
        "set_level": lambda level: send_logging_set_level(*streams, level, timeout=STEP_TIMEOUT),
        "ping": ping,
        "subscribe": lambda uri: send_resources_subscribe(*streams, uri, timeout=STEP_TIMEOUT),
    }


if __name__ == "__main__":
    sys.exit(main(connect))
