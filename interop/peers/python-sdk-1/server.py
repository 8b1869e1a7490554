"""The fixtures of the official suite on version 1 of the official Python SDK: the handshake revisions, on
stdio, Streamable HTTP and, with `--sse`, HTTP+SSE.

Uses its low-level server. Questions are requests to the client; `choosy` tools ask all of theirs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from everything import FIXTURES, fields_of, filled, page_of
from fixture_server import serve
from mcp import types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.sse import SseServerTransport
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import McpError
from mcp.shared.message import ServerMessageMetadata
from pydantic import AnyUrl
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount, Route

Json = dict[str, Any]

PAUSE = 0.05
RETRY_MS = 100
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
RESULTS: dict[str, Any] = {
    "elicitation/create": types.ElicitResult,
    "sampling/createMessage": types.CreateMessageResult,
    "roots/list": types.ListRootsResult,
}
WATCHED = "test://watched-resource"

tools: dict[str, Json] = {tool["name"]: tool for tool in FIXTURES["tools"]}
prompts: dict[str, Json] = {prompt["name"]: prompt for prompt in FIXTURES["prompts"]}
resources: dict[str, Json] = {resource["uri"]: resource for resource in FIXTURES["resources"]}
levels: defaultdict[int, str] = defaultdict(lambda: "debug")
subscriptions: defaultdict[int, set[str]] = defaultdict(set)
cancelled = asyncio.Event()


class FixtureServer(Server[Any, Any]):
    """Declares what the SDK does not declare by itself: subscriptions, and changes of lists."""

    def create_initialization_options(self, *args: Any, **more: Any) -> Any:
        changes = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
        options = super().create_initialization_options(changes)
        assert options.capabilities.resources is not None
        options.capabilities.resources.subscribe = True
        return options


server = FixtureServer(**FIXTURES["server"])


def selected(items: dict[str, Json], *names: str) -> list[Json]:
    return [{name: item[name] for name in names if name in item} for item in items.values()]


def refusal(message: str, code: int = types.INVALID_PARAMS) -> McpError:
    return McpError(types.ErrorData(code=code, message=message))


def lookup(items: dict[str, Json], name: str) -> Json:
    if name not in items:
        raise refusal(f"Not found: {name}")
    return items[name]


# Questions.


async def ask(item: Json, arguments: Json) -> Json:
    """The client's answers to all questions of an item."""
    context, answers = server.request_context, {}
    related = ServerMessageMetadata(related_request_id=context.request_id)
    for questions in filled(item["rounds"], arguments):
        for key, question in questions.items():
            request = types.ServerRequest.model_validate(question)
            kind = RESULTS[question["method"]]
            result = await context.session.send_request(request, kind, metadata=related)
            answers[key] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return answers


# Tools that do something.


async def log(data: str) -> None:
    context = server.request_context
    if LEVELS.index("info") >= LEVELS.index(levels[id(context.session)]):
        await context.session.send_log_message(
            "info", data, "fixtures", related_request_id=context.request_id
        )


async def log_thrice() -> str:
    await log("Tool execution started")
    await asyncio.sleep(PAUSE)
    await log("Tool processing data")
    await asyncio.sleep(PAUSE)
    await log("Tool execution completed")
    return "Tool with logging executed successfully"


async def log_once() -> str:
    await log("A message from the logging tool")
    return "Logged"


async def report(progress: float, total: float) -> None:
    context = server.request_context
    token = context.meta.progressToken if context.meta else None
    if token is not None:
        related = str(context.request_id)
        await context.session.send_progress_notification(token, progress, total, related_request_id=related)


async def report_progress() -> str:
    for progress in (0, 50, 100):
        await report(progress, 100)
        await asyncio.sleep(PAUSE)
    return "Tool with progress executed successfully"


async def close_stream() -> str:
    if server.request_context.close_sse_stream is not None:
        await server.request_context.close_sse_stream()
    await asyncio.sleep(PAUSE)
    return "Reconnection test completed successfully. If you received this, the client reconnected properly."


async def update_resource() -> str:
    resources[WATCHED] = {**resources[WATCHED], "text": "Watched resource content, changed"}
    session = server.request_context.session
    if WATCHED in subscriptions[id(session)]:
        await session.send_resource_updated(AnyUrl(WATCHED))
    return f"Changed {WATCHED}"


def toggle(items: dict[str, Json], name: str, like: str) -> str:
    if items.pop(name, None):
        return f"Removed {name}"
    items[name] = {**items[like], "name": name}
    return f"Added {name}"


async def change_tools() -> str:
    done = toggle(tools, "passing_tool", "test_simple_text")
    await server.request_context.session.send_tool_list_changed()
    return done


async def change_prompts() -> str:
    done = toggle(prompts, "passing_prompt", "test_simple_prompt")
    await server.request_context.session.send_prompt_list_changed()
    return done


async def work_until_cancelled() -> str:
    await report(1, 2)
    try:
        await asyncio.Event().wait()
    finally:
        cancelled.set()
    return "never"


async def await_cancelled() -> str:
    await cancelled.wait()
    return "cancelled"


ACTS: dict[str, Callable[[], Awaitable[str]]] = {
    "test_tool_with_logging": log_thrice,
    "test_logging_tool": log_once,
    "test_tool_with_progress": report_progress,
    "test_reconnection": close_stream,
    "test_update_watched_resource": update_resource,
    "test_trigger_tool_change": change_tools,
    "test_trigger_prompt_change": change_prompts,
    "test_slow": work_until_cancelled,
    "test_await_cancelled": await_cancelled,
}


# Handlers.


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    shown = selected(tools, "name", "description", "inputSchema", "outputSchema")
    return [types.Tool.model_validate(tool) for tool in shown]


@server.call_tool()
async def call_tool(name: str, arguments: Json) -> types.CallToolResult:
    tool = lookup(tools, name)
    if "content" in tool:
        (fixed,) = selected({name: tool}, "content", "structuredContent", "isError")
        return types.CallToolResult.model_validate(fixed)
    text = await ACTS[name]() if name in ACTS else filled(tool["says"], fields_of(await ask(tool, arguments)))
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


@server.list_resources()
async def list_resources(request: types.ListResourcesRequest) -> types.ListResourcesResult:
    listed = selected(resources, "uri", "name", "description", "mimeType")
    page, following = page_of(listed, request.params.cursor if request.params else None)
    return types.ListResourcesResult.model_validate({"resources": page, "nextCursor": following})


@server.list_resource_templates()
async def list_templates() -> list[types.ResourceTemplate]:
    return [types.ResourceTemplate.model_validate(template) for template in FIXTURES["templates"]]


async def read_resource(request: types.ReadResourceRequest) -> types.ServerResult:
    # Not with the decorator, which encodes Base64 again.
    uri = str(request.params.uri)
    if uri.startswith("test://template/") and uri.endswith("/data"):
        id = uri.removeprefix("test://template/").removesuffix("/data")
        data = json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})
        contents: list[Json] = [{"uri": uri, "mimeType": "application/json", "text": data}]
    elif uri in resources:
        contents = selected({uri: resources[uri]}, "uri", "mimeType", "text", "blob")
    else:
        raise refusal(f"Not found: {uri}", -32002)
    return types.ServerResult(types.ReadResourceResult.model_validate({"contents": contents}))


server.request_handlers[types.ReadResourceRequest] = read_resource


@server.subscribe_resource()
async def subscribe(uri: AnyUrl) -> None:
    subscriptions[id(server.request_context.session)].add(str(uri))


@server.unsubscribe_resource()
async def unsubscribe(uri: AnyUrl) -> None:
    subscriptions[id(server.request_context.session)].discard(str(uri))


@server.list_prompts()
async def list_prompts() -> list[types.Prompt]:
    return [
        types.Prompt.model_validate(each) for each in selected(prompts, "name", "description", "arguments")
    ]


@server.get_prompt()
async def get_prompt(name: str, arguments: dict[str, str] | None) -> types.GetPromptResult:
    prompt, fields = lookup(prompts, name), arguments or {}
    if "rounds" in prompt:
        fields = fields_of(await ask(prompt, {}))
    return types.GetPromptResult.model_validate({"messages": filled(prompt["messages"], fields)})


@server.completion()
async def complete(
    ref: types.PromptReference | types.ResourceTemplateReference,
    argument: types.CompletionArgument,
    context: types.CompletionContext | None,
) -> types.Completion:
    values = [word for word in FIXTURES["suggestions"] if word.startswith(argument.value)]
    return types.Completion(values=values, total=len(values), hasMore=False)


@server.set_logging_level()
async def set_level(level: types.LoggingLevel) -> None:
    levels[id(server.request_context.session)] = level


# Transports.


class Events(EventStore):
    """All events of all streams, in order."""

    def __init__(self) -> None:
        self.events: list[tuple[str, types.JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: types.JSONRPCMessage | None) -> str:
        self.events.append((stream_id, message))
        return str(len(self.events))

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        if not last_event_id.isdigit() or not 0 < int(last_event_id) <= len(self.events):
            return None
        resumed = self.events[int(last_event_id) - 1][0]
        for number, (stream, message) in enumerate(self.events[int(last_event_id) :], int(last_event_id) + 1):
            if stream == resumed and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return resumed


async def run(read: Any, write: Any) -> None:
    await server.run(read, write, server.create_initialization_options())


async def serve_stdio() -> None:
    async with stdio_server() as (read, write):
        await run(read, write)


def streamable_app() -> Any:
    manager = StreamableHTTPSessionManager(server, event_store=Events(), retry_interval=RETRY_MS)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    class Endpoint:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await manager.handle_request(scope, receive, send)

    return Starlette(routes=[Route("/mcp", Endpoint())], lifespan=lifespan)


def sse_app() -> Any:
    transport = SseServerTransport("/messages/")

    async def connect(request: Any) -> Response:
        async with transport.connect_sse(request.scope, request.receive, request._send) as (read, write):
            await run(read, write)
        return Response()

    routes = [Route("/sse", connect), Mount("/messages/", app=transport.handle_post_message)]
    return Starlette(routes=routes)


def main() -> None:
    serve(__doc__, lambda: asyncio.run(serve_stdio()), streamable_app, sse_app)


if __name__ == "__main__":
    main()
