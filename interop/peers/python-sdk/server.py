"""The fixtures of the official suite on the official Python SDK.

Uses its low-level server, which accepts custom schemas and exposes subscriptions and log levels. Not
implemented: the extensions (tasks, skills), which this SDK lacks, and `listChanged` in the handshake
revisions, which its HTTP application cannot declare.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

import jsonschema
from everything import FIXTURES, MORE, fields_of, filled, page_of
from fixture_server import serve
from mcp import types
from mcp.server import CacheHint, Server, ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import PromptsListChanged, ResourceUpdated, ToolsListChanged
from questions import ask_later, ask_now

Json = dict[str, Any]
Ctx = ServerRequestContext[Any, Any]

PAUSE = 0.05
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
RESOURCE_NOT_FOUND = -32002
"""In the handshake revisions; the SDK has no constant for it."""

tools: dict[str, Json] = {tool["name"]: tool for tool in FIXTURES["tools"]}
prompts: dict[str, Json] = {prompt["name"]: prompt for prompt in FIXTURES["prompts"]}
resources: dict[str, Json] = {resource["uri"]: resource for resource in FIXTURES["resources"]}
levels: defaultdict[str, str] = defaultdict(lambda: "debug")
subscriptions: defaultdict[str, set[str]] = defaultdict(set)
bus = InMemorySubscriptionBus()
cancelled = asyncio.Event()


def selected(items: dict[str, Json], *names: str) -> list[Json]:
    return [{name: item[name] for name in names if name in item} for item in items.values()]


def lookup(items: dict[str, Json], name: str) -> Json:
    if name not in items:
        raise MCPError(types.INVALID_PARAMS, f"Not found: {name}")
    return items[name]


def text_result(words: str, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=words)], is_error=is_error)


def session_of(ctx: Ctx) -> str:
    return ctx.request.headers.get("mcp-session-id", "") if ctx.request else ""


def is_handshake(ctx: Ctx) -> bool:
    return ctx.session.can_send_request


# Questions: requests to the client in handshake revisions, an input-required result in later ones.


async def ask(ctx: Ctx, item: Json, arguments: Json, params: Any) -> Json | types.InputRequiredResult:
    if is_handshake(ctx):
        return await ask_now(ctx.session, ctx.request_id, item, arguments)
    return ask_later(ctx.session, item, arguments, params.request_state, params.input_responses)


# Tools that do something.


async def log(ctx: Ctx, data: str) -> None:
    if not is_handshake(ctx) or LEVELS.index("info") >= LEVELS.index(levels[session_of(ctx)]):
        await ctx.session.send_log_message("info", data, "fixtures", related_request_id=ctx.request_id)


async def log_thrice(ctx: Ctx) -> str:
    await log(ctx, "Tool execution started")
    await asyncio.sleep(PAUSE)
    await log(ctx, "Tool processing data")
    await asyncio.sleep(PAUSE)
    await log(ctx, "Tool execution completed")
    return "Tool with logging executed successfully"


async def log_once(ctx: Ctx) -> str:
    await log(ctx, "A message from the logging tool")
    return "Logged"


async def report_progress(ctx: Ctx) -> str:
    for progress in (0, 50, 100):
        await ctx.session.report_progress(progress, 100)
        await asyncio.sleep(PAUSE)
    return "Tool with progress executed successfully"


async def close_stream(ctx: Ctx) -> str:
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
    await asyncio.sleep(PAUSE)
    return "Reconnection test completed successfully. If you received this, the client reconnected properly."


async def update_resource(ctx: Ctx) -> str:
    uri = "test://watched-resource"
    resources[uri] = {**resources[uri], "text": "Watched resource content, changed"}
    await bus.publish(ResourceUpdated(uri))
    if uri in subscriptions[session_of(ctx)]:
        await ctx.session.send_resource_updated(uri)
    return f"Changed {uri}"


def toggle(items: dict[str, Json], name: str, like: str) -> str:
    if items.pop(name, None):
        return f"Removed {name}"
    items[name] = {**items[like], "name": name}
    return f"Added {name}"


async def change_tools(ctx: Ctx) -> str:
    done = toggle(tools, "passing_tool", "test_simple_text")
    await bus.publish(ToolsListChanged())
    if MORE and is_handshake(ctx):
        await ctx.session.send_tool_list_changed()
    return done


async def change_prompts(ctx: Ctx) -> str:
    done = toggle(prompts, "passing_prompt", "test_simple_prompt")
    await bus.publish(PromptsListChanged())
    if MORE and is_handshake(ctx):
        await ctx.session.send_prompt_list_changed()
    return done


async def work_until_cancelled(ctx: Ctx) -> str:
    await ctx.session.report_progress(1, 2)
    try:
        await asyncio.Event().wait()
    finally:
        cancelled.set()
    return "never"


async def await_cancelled(ctx: Ctx) -> str:
    await cancelled.wait()
    return "cancelled"


ACTS: dict[str, Callable[[Ctx], Awaitable[str]]] = {
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


async def list_tools(ctx: Ctx, params: Any) -> Any:
    shows = {"tools": selected(tools, "name", "description", "inputSchema", "outputSchema")}
    return types.ListToolsResult.model_validate(shows)


async def call_tool(ctx: Ctx, params: types.CallToolRequestParams) -> Any:
    tool, arguments = lookup(tools, params.name), params.arguments or {}
    try:
        jsonschema.validate(arguments, tool["inputSchema"])
    except jsonschema.ValidationError as error:
        return text_result(error.message, is_error=True)
    if params.name in ACTS:
        return text_result(await ACTS[params.name](ctx))
    if "content" in tool:
        (result,) = selected({params.name: tool}, "content", "structuredContent", "isError")
        return types.CallToolResult.model_validate(result)
    answers = await ask(ctx, tool, arguments, params)
    return text_result(filled(tool["says"], fields_of(answers))) if isinstance(answers, dict) else answers


async def list_resources(ctx: Ctx, params: Any) -> Any:
    listed = selected(resources, "uri", "name", "description", "mimeType")
    page, following = page_of(listed, params.cursor if params else None)
    return types.ListResourcesResult.model_validate({"resources": page, "nextCursor": following})


async def list_templates(ctx: Ctx, params: Any) -> Any:
    return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": FIXTURES["templates"]})


async def read_resource(ctx: Ctx, params: types.ReadResourceRequestParams) -> Any:
    uri = str(params.uri)
    if uri.startswith("test://template/") and uri.endswith("/data"):
        id = uri.removeprefix("test://template/").removesuffix("/data")
        data = json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})
        contents: Any = [{"uri": uri, "mimeType": "application/json", "text": data}]
    elif uri in resources:
        contents = selected({uri: resources[uri]}, "uri", "mimeType", "text", "blob")
    else:
        code = RESOURCE_NOT_FOUND if is_handshake(ctx) else types.INVALID_PARAMS
        raise MCPError(code, f"Not found: {uri}", {"uri": uri})
    return types.ReadResourceResult.model_validate({"contents": contents})


async def subscribe(ctx: Ctx, params: types.SubscribeRequestParams) -> Any:
    subscriptions[session_of(ctx)].add(str(params.uri))
    return types.EmptyResult()


async def unsubscribe(ctx: Ctx, params: types.UnsubscribeRequestParams) -> Any:
    subscriptions[session_of(ctx)].discard(str(params.uri))
    return types.EmptyResult()


async def list_prompts(ctx: Ctx, params: Any) -> Any:
    shows = {"prompts": selected(prompts, "name", "description", "arguments")}
    return types.ListPromptsResult.model_validate(shows)


async def get_prompt(ctx: Ctx, params: types.GetPromptRequestParams) -> Any:
    prompt, fields = lookup(prompts, params.name), params.arguments or {}
    missing = [argument["name"] for argument in prompt["arguments"] if argument["name"] not in fields]
    if missing:
        raise MCPError(types.INVALID_PARAMS, f"Missing arguments: {', '.join(missing)}")
    if "rounds" in prompt:
        answers = await ask(ctx, prompt, {}, params)
        if not isinstance(answers, dict):
            return answers
        fields = fields_of(answers)
    return types.GetPromptResult.model_validate({"messages": filled(prompt["messages"], fields)})


async def complete(ctx: Ctx, params: types.CompleteRequestParams) -> Any:
    if isinstance(params.ref, types.PromptReference):
        lookup(prompts, params.ref.name)
    values = [word for word in FIXTURES["suggestions"] if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))


async def set_level(ctx: Ctx, params: types.SetLevelRequestParams) -> Any:
    levels[session_of(ctx)] = params.level
    return types.EmptyResult()


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


def build() -> Server[Any]:
    # Logging and sampling are deprecated in the newest revision, so the SDK warns about each use.
    warnings.simplefilter("ignore")
    fresh = CacheHint(ttl_ms=1000, scope="public")
    server: Server[Any] = Server(
        **FIXTURES["server"],
        cache_hints={"tools/list": fresh, "prompts/list": fresh, "resources/read": fresh},
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=unsubscribe,
        on_subscriptions_listen=ListenHandler(bus),
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_set_logging_level=set_level,
    )
    boundary = RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=server.name)
    server.middleware.append(boundary)
    return server


async def serve_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def main() -> None:
    serve(
        __doc__,
        on_stdio=lambda: asyncio.run(serve_stdio(build())),
        make_app=lambda: build().streamable_http_app(event_store=Events(), retry_interval=100),
    )


if __name__ == "__main__":
    main()
