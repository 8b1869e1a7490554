"""The client of fastmcp in a matrix; the same program for versions 3 and 4."""

import inspect
import sys
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from matrix_steps import Acts, Task, Unsupported, main

NEWEST = "2026-07-28"


async def on_sampling(messages: list[Any], params: Any, context: Any) -> str:
    return "sampled by the client"


async def on_elicitation(message: str, form: Any, params: Any, context: Any) -> Any:
    return form(username="ada", email="ada@example.org")


async def on_log(message: Any) -> None:
    pass


async def on_progress(progress: float, total: float | None, message: str | None) -> None:
    pass


def client_of(task: Task) -> Client[Any]:
    options: dict[str, Any] = {}
    if "mode" in inspect.signature(Client.__init__).parameters:
        options["mode"] = "auto" if task.revision == NEWEST else "legacy"
    elif task.revision == NEWEST:
        raise Unsupported(f"this version of fastmcp has no revision {NEWEST}")
    target: Any = task.url or StdioTransport(task.command[0], task.command[1:], keep_alive=False)
    return Client(
        target,
        sampling_handler=on_sampling,
        elicitation_handler=on_elicitation,
        log_handler=on_log,
        progress_handler=on_progress,
        **options,
    )


@asynccontextmanager
async def connect(task: Task) -> AsyncIterator[Acts]:
    async with client_of(task) as client:

        async def call_tool(name: str, arguments: dict[str, Any] | None = None) -> object:
            return await client.call_tool(name, arguments, raise_on_error=False)

        acts: dict[str, Any] = {
            "list_tools": client.list_tools,
            "call_tool": call_tool,
            "list_resources": client.list_resources,
            "read_resource": client.read_resource,
            "list_templates": client.list_resource_templates,
            "list_prompts": client.list_prompts,
            "get_prompt": client.get_prompt,
            "complete": lambda ref, argument: client.complete(reference_of(ref), argument),
            "set_level": client.set_logging_level,
            "ping": client.ping,
            "subscribe": client.session.subscribe_resource,
        }
        if task.revision == NEWEST:
            del acts["set_level"]  # fastmcp has no API for the level of one request
        yield acts


def reference_of(ref: dict[str, Any]) -> Any:
    """The SDK underneath has its types in another package since version 2."""
    try:
        import mcp_types as types
    except ImportError:
        from mcp import types
    kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
    return kind.model_validate(ref)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(connect))
