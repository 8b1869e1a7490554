"""What the client answers when the server asks, and what it hears."""

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
    """The callbacks that the client was told to have. The SDK declares a capability for each of them."""

    def __init__(self, context: Context) -> None:
        self.told = context.answers
        self.declared = context.capabilities
        self.roots: list[dict[str, Any]] = self.told.get("roots", [])
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
        # `elicitation.url` and `roots.listChanged` cannot be told apart: the SDK declares them with the rest.
        names = self.declared | {name.split(".")[0] for name in self.declared}
        return {key: value for name in names & table.keys() for key, value in table[name].items()}

    async def on_elicitation(
        self, asked: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        await self.prepare(asked)
        action = self.told.get("elicitation", "decline")
        if action != "accept" or isinstance(params, types.ElicitRequestURLParams):
            return types.ElicitResult(action=action)
        return types.ElicitResult(action=action, content=filled(params.requested_schema))

    async def on_sampling(
        self, asked: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> Sampled:
        await self.prepare(asked)
        if params.tools and "sampling.tools" not in self.declared:
            return types.ErrorData(code=types.INVALID_PARAMS, message="this client takes no tools")
        if params.tools and params.tool_choice is not None and params.tool_choice.mode == "required":
            return use_of(params.tools[0])
        text = self.told.get("sampling", {}).get("text", "an answer")
        content = types.TextContent(type="text", text=text)
        return types.CreateMessageResult(
            role="assistant", model=MODEL, content=content, stop_reason="endTurn"
        )

    async def on_roots(self, asked: ClientRequestContext) -> types.ListRootsResult:
        await self.prepare(asked)
        return types.ListRootsResult.model_validate({"roots": self.roots})

    async def prepare(self, asked: ClientRequestContext) -> None:
        """Do what is to be done before an answer. A question that this leads to is answered at once."""
        await tell_progress(asked)
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


async def tell_progress(asked: ClientRequestContext) -> None:
    """Only a request has somebody who waits for it: the questions in results have not."""
    token = (asked.meta or {}).get("progress_token")
    if token is not None and asked.session.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        await asked.session.send_progress_notification(token, 1, 1)


class Heard:
    """The notifications that came, by method; each can be waited for once. Where `subscribed` is set, the
    SDK's subscriptions tell which changes are meant for us, and only those are heard."""

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
            raise TimeoutError(f"no {method} came in {seconds} s") from None


def filled(schema: dict[str, Any]) -> dict[str, Any]:
    """A form with every field filled: by its default, else by something that its schema allows."""
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
