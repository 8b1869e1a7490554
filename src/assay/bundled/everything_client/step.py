"""The steps that Assay's lab lists in the context of a scenario (docs/judge-clients.md)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from assay import Change, Client, ClientError, Progress, Skill, Timeout, ToolDefinition

from .answer import Answers
from .authorization import GRANTS
from .scenario import load_skill
from .task import BadTask, Connect, Task

Step = dict[str, Any]


async def take_steps(connect: Connect, task: Task) -> None:
    """Do what the context of the scenario lists."""
    player = Player(task)
    async with connect(**player.options()) as player.client:
        await player.play(task.value("steps"))


class StepFailed(Exception):
    """A step cannot be taken with what the client shows."""


class Player:
    client: Client

    def __init__(self, task: Task) -> None:
        self.task = task
        self.answers = Answers(task, self.play)
        self.tools: dict[str, ToolDefinition] = {}
        self.skills: dict[str, Skill] = {}
        self.changes: asyncio.Queue[Change] = asyncio.Queue()

    def options(self) -> dict[str, Any]:
        """The options of `Client` that the steps need."""
        names = {step["do"] for step in self.task.value("steps")}
        listening = {"on_change": self.changes.put_nowait} if "relist_on_change" in names else {}
        return {**self.answers.options(), **listening, **self.authorization(), "on_log": print}

    def authorization(self) -> dict[str, Any]:
        oauth = self.task.context.get("oauth")
        return {"auth": GRANTS[oauth["grant"]](self.task)} if oauth else {}

    async def play(self, steps: Sequence[Step]) -> None:
        for step in steps:
            await self.take(**step)

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

    async def listen(self, notifications: dict[str, Any]) -> None:
        """`on_change` listens to everything."""

    async def relist_on_change(self, seconds: float) -> None:
        async with asyncio.timeout(seconds):
            while (await self.changes.get()).kind != "tools":
                pass
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
        Player.listen,
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
