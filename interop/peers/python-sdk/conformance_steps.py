"""The steps of a script, each on the SDK's public API."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any

import mcp_types as types
from conformance_answers import Answers, Notifications
from conformance_context import BadContext, Context, NoApi, Step
from mcp import Client, MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

LIST_CHANGED = "notifications/tools/list_changed"
# A limit against endless lists.
MOST_PAGES = 100
FILTERS = {
    "toolsListChanged": "tools_list_changed",
    "promptsListChanged": "prompts_list_changed",
    "resourcesListChanged": "resources_list_changed",
    "resourceSubscriptions": "resource_subscriptions",
}


class Player:
    """Runs steps on a connected client. What must stay open until the end is in `stack`."""

    def __init__(
        self,
        client: Client,
        context: Context,
        answers: Answers,
        notifications: Notifications,
        stack: AsyncExitStack,
    ) -> None:
        self.client = client
        self.context = context
        self.answers = answers
        self.notifications = notifications
        self.stack = stack
        self.tools: dict[str, types.Tool] = {}
        self.meta: Any = None
        if before := answers.script.get("before_answering"):
            answers.before = lambda: self.play(before)

    async def play(self, steps: Sequence[Step]) -> None:
        for step in steps:
            await self.play_one(step)

    async def report(self, steps: Sequence[Step]) -> None:
        """Take all steps, and print a line of JSON about each (docs/matrix.md)."""
        for number, step in enumerate(steps):
            ok: bool | None = True
            detail = ""
            try:
                await self.play_one(step)
            except NoApi as missing:
                ok, detail = None, cause_of(missing)
            except Exception as error:
                ok, detail = False, cause_of(error)
            print(json.dumps({"step": number, "ok": ok, "detail": detail}), flush=True)

    async def play_one(self, step: Step) -> None:
        act: Callable[..., Awaitable[None]] | None = ACTS.get(step["do"])
        if act is None:
            raise BadContext(f"unknown step {step['do']!r}")
        arguments = {key: value for key, value in step.items() if key not in ("do", "may_fail")}
        try:
            await act(self, **arguments)
        except (NoApi, BadContext):
            raise
        except Exception as error:
            if not step.get("may_fail"):
                raise
            print(f"{step['do']} failed, as it may: {cause_of(error)}", file=sys.stderr)

    async def pages(self, fetch: Callable[..., Awaitable[Any]], field: str) -> list[Any]:
        items: list[Any] = []
        cursor: str | None = None
        cursors: set[str | None] = set()
        while cursor not in cursors and len(cursors) < MOST_PAGES:
            cursors.add(cursor)
            page = await fetch(cursor=cursor)
            items += getattr(page, field)
            cursor = page.next_cursor
            if cursor is None:
                return items
        raise RuntimeError(
            f"the list of {field} does not end: page {len(cursors) + 1} would start at {cursor!r}"
        )

    async def list_tools(self) -> None:
        tools = await self.pages(self.client.list_tools, "tools")
        self.tools = {tool.name: tool for tool in tools}

    async def list_resources(self) -> None:
        await self.pages(self.client.list_resources, "resources")

    async def list_templates(self) -> None:
        await self.pages(self.client.list_resource_templates, "resource_templates")

    async def list_prompts(self) -> None:
        await self.pages(self.client.list_prompts, "prompts")

    async def call_tool(
        self, name: str, arguments: dict[str, Any] | None = None, timeout: float | None = None
    ) -> None:
        try:
            result = await self.client.call_tool(name, arguments, timeout, on_progress, meta=self.meta)
        except MCPError as error:
            if timeout is None or error.code != types.REQUEST_TIMEOUT:
                raise
            print(f"call_tool {name}: gave up after {timeout} s", file=sys.stderr)
        else:
            print(f"call_tool {name}: {'an error' if result.is_error else 'done'}")

    async def read_resource(self, uri: str) -> None:
        await self.client.read_resource(uri)

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> None:
        await self.client.get_prompt(name, arguments, meta=self.meta)

    async def complete(self, ref: dict[str, Any], argument: dict[str, str]) -> None:
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
        await self.client.complete(kind.model_validate(ref), argument)

    async def subscribe(self, uri: str) -> None:
        await self.client.subscribe_resource(uri)

    async def unsubscribe(self, uri: str) -> None:
        await self.client.unsubscribe_resource(uri)

    async def listen(self, notifications: dict[str, Any]) -> None:
        filters: dict[str, Any] = {FILTERS[name]: value for name, value in notifications.items()}
        subscription = await self.stack.enter_async_context(self.client.listen(**filters))
        self.stack.callback(asyncio.create_task(self.notifications.follow(subscription)).cancel)

    async def set_level(self, level: types.LoggingLevel) -> None:
        """Set the level for the session or for each call, as the revision requires."""
        if self.client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            self.meta = {types.LOG_LEVEL_META_KEY: level}
        else:
            await self.client.set_logging_level(level)

    async def ping(self) -> None:
        await self.client.send_ping()

    async def change_roots(self, roots: list[dict[str, Any]]) -> None:
        self.answers.roots = roots
        await self.client.send_roots_list_changed()

    async def wait_for(self, notification: str, seconds: float) -> None:
        await self.notifications.wait_for(notification, seconds)

    async def relist_on_change(self, seconds: float) -> None:
        await self.notifications.wait_for(LIST_CHANGED, seconds)
        await self.list_tools()

    async def together(self, steps: list[Step]) -> None:
        async with asyncio.TaskGroup() as group:
            for step in steps:
                group.create_task(self.play_one(step))

    async def context_calls(self) -> None:
        for call in self.context.value("toolCalls"):
            await self.call_tool(**call)

    async def call_listed(self, arguments: dict[str, Any]) -> None:
        """Call every tool that the SDK shows; a failure does not stop the others."""
        for name in self.tools:
            values = arguments.get(name, {})
            await self.play_one({"do": "call_tool", "name": name, "arguments": values, "may_fail": True})

    async def echo_schema(self, **tools: str) -> None:
        listed = self.tools.get(tools["of"])
        if listed is None:
            raise RuntimeError(f"no tool {tools['of']!r} was listed")
        await self.call_tool(tools["with"], {"schema": listed.input_schema})

    async def list_skills(self) -> None:
        raise NoApi("skills")

    async def load_skill(self, uri: str) -> None:
        raise NoApi("skills")


ACTS: dict[str, Callable[..., Awaitable[None]]] = {
    act.__name__: act
    for act in (
        Player.list_tools,
        Player.list_resources,
        Player.list_templates,
        Player.list_prompts,
        Player.call_tool,
        Player.read_resource,
        Player.get_prompt,
        Player.complete,
        Player.subscribe,
        Player.unsubscribe,
        Player.listen,
        Player.set_level,
        Player.ping,
        Player.change_roots,
        Player.wait_for,
        Player.relist_on_change,
        Player.together,
        Player.context_calls,
        Player.call_listed,
        Player.echo_schema,
        Player.list_skills,
        Player.load_skill,
    )
}


async def on_progress(progress: float, total: float | None, message: str | None) -> None:
    print(f"progress: {progress} of {total}")


def cause_of(error: BaseException) -> str:
    """The cause in one line; the text of an exception group is not helpful."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = " ".join(str(error).split())
    if isinstance(error, NoApi | BadContext):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
