"""Answers to the server's requests, and received notifications."""

import asyncio
import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import mcp_types as types
from conformance_context import Context
from mcp.client import ClientRequestContext
from mcp.client.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    Subscription,
    SubscriptionLost,
    ToolsListChanged,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

Sampled: TypeAlias = types.CreateMessageResult | types.CreateMessageResultWithTools | types.ErrorData

MODEL = "conformance"
CHANGES: dict[type, str] = {
    ToolsListChanged: "notifications/tools/list_changed",
    PromptsListChanged: "notifications/prompts/list_changed",
    ResourcesListChanged: "notifications/resources/list_changed",
    ResourceUpdated: "notifications/resources/updated",
}
PLAUSIBLE = {
    "email": "ada@example.org",
    "uri": "https://example.org/",
    "date": "2001-02-03",
    "date-time": "2001-02-03T04:05:06Z",
}


class Answers:
    """The callbacks of the script. The SDK declares a capability for each of them."""

    def __init__(self, context: Context) -> None:
        self.script = context.answers
        self.declared = context.capabilities
        self.roots: list[dict[str, Any]] = self.script.get("roots", [])
        self.before: Callable[[], Awaitable[None]] | None = None

    def callbacks(self) -> dict[str, Any]:
        table: dict[str, dict[str, Any]] = {
            "elicitation": {"elicitation_callback": self.on_elicitation},
            "sampling": {"sampling_callback": self.on_sampling},
            "sampling.tools": {
                "sampling_capabilities": types.SamplingCapability(tools=types.SamplingToolsCapability())
            },
            "roots": {"list_roots_callback": self.on_roots},
        }
        # The SDK declares `elicitation.url` and `roots.listChanged` together with the rest.
        names = self.declared | {name.split(".")[0] for name in self.declared}
        return {key: value for name in names & table.keys() for key, value in table[name].items()}

    async def on_elicitation(
        self, request: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        await self.prepare(request)
        action = self.script.get("elicitation", "decline")
        if action != "accept" or isinstance(params, types.ElicitRequestURLParams):
            return types.ElicitResult(action=action)
        return types.ElicitResult(action=action, content=filled(params.requested_schema))

    async def on_sampling(
        self, request: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> Sampled:
        await self.prepare(request)
        if params.tools and "sampling.tools" not in self.declared:
            return types.ErrorData(code=types.INVALID_PARAMS, message="this client does not support tools")
        if params.tools and params.tool_choice is not None and params.tool_choice.mode == "required":
            return use_of(params.tools[0])
        text = self.script.get("sampling", {}).get("text", "an answer")
        content = types.TextContent(type="text", text=text)
        return types.CreateMessageResult(
            role="assistant", model=MODEL, content=content, stop_reason="endTurn"
        )

    async def on_roots(self, request: ClientRequestContext) -> types.ListRootsResult:
        await self.prepare(request)
        return types.ListRootsResult.model_validate({"roots": self.roots})

    async def prepare(self, request: ClientRequestContext) -> None:
        """Run the steps before an answer. A question during these steps is answered immediately."""
        await send_progress(request)
        before, self.before = self.before, None
        if before is None:
            return
        try:
            await before()
        finally:
            self.before = before


def use_of(tool: types.Tool) -> types.CreateMessageResultWithTools:
    use = types.ToolUseContent(type="tool_use", id="use-1", name=tool.name, input=filled(tool.input_schema))
    return types.CreateMessageResultWithTools(
        role="assistant", model=MODEL, content=use, stop_reason="toolUse"
    )


async def send_progress(request: ClientRequestContext) -> None:
    """Send progress for a request; questions in results have no progress token."""
    token = (request.meta or {}).get("progress_token")
    if token is not None and request.session.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        await request.session.send_progress_notification(token, 1, 1)


class Notifications:
    """Received notifications by method; each can be waited for once. With `subscribed`, changes come from the
    SDK's subscriptions only."""

    def __init__(self) -> None:
        self.by_method: defaultdict[str, asyncio.Queue[None]] = defaultdict(asyncio.Queue)
        self.subscribed = False

    async def on_message(self, message: Any) -> None:
        if isinstance(message, Exception):
            print(f"from the connection: {message}", file=sys.stderr)
        elif not (self.subscribed and message.method in CHANGES.values()):
            self.by_method[message.method].put_nowait(None)

    async def follow(self, subscription: Subscription) -> None:
        try:
            async for event in subscription:
                self.by_method[CHANGES[type(event)]].put_nowait(None)
        except SubscriptionLost as lost:
            print(f"from a subscription: {lost}", file=sys.stderr)

    async def wait_for(self, method: str, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self.by_method[method].get()
        except TimeoutError:
            raise TimeoutError(f"no {method} within {seconds} s") from None


def filled(schema: dict[str, Any]) -> dict[str, Any]:
    """A form with every field filled: its default, else a value that its schema allows."""
    return {name: value_for(field) for name, field in schema.get("properties", {}).items()}


def value_for(field: dict[str, Any]) -> Any:
    if "default" in field:
        return field["default"]
    choices = [option["const"] for option in field.get("oneOf", field.get("anyOf", ())) if "const" in option]
    if choices := field.get("enum", choices):
        return choices[0]
    match field.get("type"):
        case "boolean":
            return True
        case "integer" | "number":
            return max(field.get("minimum", 1), min(1, field.get("maximum", 1)))
        case "array":
            return [value_for(field.get("items", {}))]
    text = PLAUSIBLE.get(field.get("format", ""), "plausible")
    return text.ljust(field.get("minLength", 0), "x")[: field.get("maxLength")]
