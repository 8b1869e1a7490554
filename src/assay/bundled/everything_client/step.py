"""The steps that Assay's lab lists in the context of a scenario (docs/judge-clients.md)."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any, Final, Literal

from assay import Changes, Client, ClientError, Progress, Skill, Timeout, ToolDefinition

from .answer import Answers
from .authorization import authorization
from .scenario import load_skill
from .task import BadTask, Connect, Task

Step = dict[str, Any]
KINDS: Final[tuple[Literal["tools", "prompts", "resources"], ...]] = ("tools", "prompts", "resources")
NOTIFICATIONS: Final[dict[str, str]] = {
    **{kind: f"notifications/{kind}/list_changed" for kind in KINDS},
    "resource": "notifications/resources/updated",
}


async def take_steps(connect: Connect, task: Task) -> None:
    """Do what the context of the scenario lists."""
    player = Player(task)
    async with connect(**player.options()) as player.client, player.open_streams:
        await (player.report if task.reports else player.play)(task.value("steps"))


class StepFailed(Exception):
    """A step had no effect, or cannot be taken with what the client shows."""


class Player:
    client: Client

    def __init__(self, task: Task) -> None:
        self.task = task
        self.answers = Answers(task, self.play)
        self.tools: dict[str, ToolDefinition] = {}
        self.skills: dict[str, Skill] = {}
        self.streams: dict[str, Changes] = {}
        """Subscriptions by URI, and under "" the last `listen`."""
        self.open_streams = AsyncExitStack()

    def options(self) -> dict[str, Any]:
        """The options of `Client` that the steps need."""
        options = {**self.answers.options(), "on_log": print}
        if self.task.reports:
            options["revision"] = self.task.revision
        if oauth := self.task.context.get("oauth"):
            options["auth"] = authorization(oauth["grant"], self.task)
        for step in self.task.value("steps"):
            if step["do"] == "set_level":
                options["log_level"] = step["level"]
        return options

    async def play(self, steps: Sequence[Step]) -> None:
        for step in steps:
            await self.take(**step)

    async def report(self, steps: Sequence[Step]) -> None:
        """Take all steps, and print a line of JSON about each (docs/matrix.md)."""
        for number, step in enumerate(steps):
            line: Step = {"step": number, "ok": True}
            try:
                await self.take(**step)
            except (ClientError, StepFailed) as error:
                line = {"step": number, "ok": False, "detail": f"{type(error).__name__}: {error}"}
            print(json.dumps(line), flush=True)

    async def take(self, do: str, may_fail: bool = False, **arguments: Any) -> None:
        act: Callable[..., Awaitable[None]] | None = STEPS.get(do)
        if act is None:
            raise BadTask(f"unknown step {do!r}")
        try:
            await act(self, **arguments)
        except (ClientError, StepFailed) as error:
            if not may_fail:
                raise
            print(f"{do} failed, as it may: {error}", file=sys.stderr)

    async def list_tools(self) -> None:
        self.tools = {tool.name: tool for tool in await self.client.tools()}

    async def list_resources(self) -> None:
        await self.client.resources()

    async def list_templates(self) -> None:
        await self.client.templates()

    async def list_prompts(self) -> None:
        await self.client.prompts()

    async def call_tool(self, name: str, arguments: Step | None = None, timeout: float | None = None) -> None:
        limit = timeout or self.client.timeout
        try:
            await self.client.call_tool(name, arguments, timeout=limit, progress=show, check=False)
        except Timeout:
            if timeout is None:
                raise

    async def read_resource(self, uri: str) -> None:
        await self.client.read(uri)

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> None:
        await self.client.prompt(name, **(arguments or {}))

    async def complete(self, ref: dict[str, str], argument: dict[str, str]) -> None:
        name, value = argument["name"], argument["value"]
        if ref["type"] == "ref/prompt":
            await self.client.complete(name, value, prompt=ref["name"])
        else:
            await self.client.complete(name, value, template=ref["uri"])

    async def ping(self) -> None:
        await self.client.ping()

    async def set_level(self, level: str) -> None:
        """`options` has passed it to `Client`, which sets it in the way of the revision."""

    async def subscribe(self, uri: str) -> None:
        self.streams[uri] = await self.open_streams.enter_async_context(self.client.subscribe(uri))

    async def unsubscribe(self, uri: str) -> None:
        await self.streams.pop(uri).__aexit__(None, None, None)

    async def listen(self, notifications: dict[str, Any]) -> None:
        kinds = [kind for kind in KINDS if notifications.get(f"{kind}ListChanged")]
        stream = self.client.listen(*kinds, uris=notifications.get("resourceSubscriptions", ()))
        self.streams[""] = await self.open_streams.enter_async_context(stream)

    async def wait_for(self, notification: str, seconds: float) -> None:
        """Wait for a change that `listen` or `subscribe` has asked for."""
        stream = next(reversed(self.streams.values()), None)
        if stream is None or notification not in NOTIFICATIONS.values():
            raise BadTask(f"nothing listens to {notification}")
        try:
            async with asyncio.timeout(seconds):
                async for change in stream:
                    if NOTIFICATIONS[change.kind] == notification:
                        return
        except TimeoutError:
            pass
        raise StepFailed(f"no {notification} in {seconds:g} s")

    async def relist_on_change(self, seconds: float) -> None:
        await self.wait_for(NOTIFICATIONS["tools"], seconds)
        await self.list_tools()

    async def change_roots(self, roots: list[Step]) -> None:
        self.answers.roots = roots
        await self.client.roots_changed()

    async def together(self, steps: list[Step]) -> None:
        await asyncio.gather(*(self.take(**step) for step in steps))

    async def context_calls(self) -> None:
        for call in self.task.value("toolCalls"):
            await self.call_tool(**call)

    async def call_listed(self, arguments: dict[str, Step]) -> None:
        for name in self.tools:
            await self.take("call_tool", may_fail=True, name=name, arguments=arguments.get(name, {}))

    async def echo_schema(self, **tools: str) -> None:
        listed = self.tools.get(tools["of"])
        if listed is None:
            raise StepFailed(f"the client shows no tool {tools['of']!r}")
        await self.call_tool(tools["with"], {"schema": listed.input_schema})

    async def list_skills(self) -> None:
        self.skills = {skill.uri: skill for skill in await self.client.skills()}

    async def load_skill(self, uri: str) -> None:
        await load_skill(self.client, self.skills.get(uri) or await self.client.skill(uri))


STEPS: Final[dict[str, Callable[..., Awaitable[None]]]] = {
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
        Player.ping,
        Player.set_level,
        Player.subscribe,
        Player.unsubscribe,
        Player.listen,
        Player.wait_for,
        Player.relist_on_change,
        Player.change_roots,
        Player.together,
        Player.context_calls,
        Player.call_listed,
        Player.echo_schema,
        Player.list_skills,
        Player.load_skill,
    )
}


def show(progress: Progress) -> None:
    print(f"progress: {progress.progress:g} of {progress.total}")
