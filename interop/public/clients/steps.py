"""Follow the steps of a scenario (docs/judge-clients.md) with a client library.

The last argument is the URL of the server, or its command if it is not a URL. What the library has no API for
ends the program with status 127, before it connects.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeAlias

UNABLE = 127
CONTEXT: dict[str, Any] = json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])
CAPABILITIES: list[str] = CONTEXT.get("capabilities", [])
TARGET = sys.argv[-1]

Step: TypeAlias = dict[str, Any]
Actions: TypeAlias = Mapping[str, Callable[..., Awaitable[Any]]]
Connect: TypeAlias = Callable[[], AbstractAsyncContextManager[Actions]]


class Follower:
    """Runs steps on the actions of a library; `list_tools` returns the schema of each tool by its name."""

    def __init__(self, actions: Actions) -> None:
        self.actions = {**actions, "together": self.together, "context_calls": self.context_calls}
        self.actions |= {"call_listed": self.call_listed, "echo_schema": self.echo_schema}
        self.tools: dict[str, Any] = {}

    async def follow(self, steps: Sequence[Step]) -> None:
        for step in steps:
            await self.take(step)

    async def take(self, step: Step) -> None:
        arguments = {key: value for key, value in step.items() if key not in ("do", "may_fail")}
        try:
            result = await self.actions[step["do"]](**arguments)
        except Exception as error:
            if not step.get("may_fail"):
                raise
            print(f"{step['do']} failed, as it may: {error!r}", file=sys.stderr)
        else:
            if step["do"] == "list_tools":
                self.tools = result

    async def together(self, steps: Sequence[Step]) -> None:
        await asyncio.gather(*map(self.take, steps))

    async def context_calls(self) -> None:
        for call in CONTEXT["toolCalls"]:
            await self.take({"do": "call_tool", **call})

    async def call_listed(self, arguments: dict[str, Any]) -> None:
        for name in self.tools:
            values = arguments.get(name, {})
            await self.take({"do": "call_tool", "name": name, "arguments": values, "may_fail": True})

    async def echo_schema(self, **tools: str) -> None:
        schema = {"schema": self.tools[tools["of"]]}
        await self.take({"do": "call_tool", "name": tools["with"], "arguments": schema})


COMPOSED = frozenset({"together", "context_calls", "call_listed", "echo_schema"})


def lacking(steps: Sequence[Step], able: frozenset[str]) -> list[str]:
    """What the steps need and the library has not; a step that may fail is left out instead."""
    missing = []
    for step in steps:
        if step["do"] not in able | COMPOSED and not step.get("may_fail"):
            missing.append(step["do"])
        if "timeout" in step and "timeout" not in able:
            missing.append("a time limit for a call")
        missing += lacking(step.get("steps", ()), able)
    return missing


def without(steps: Sequence[Step], able: frozenset[str]) -> list[Step]:
    possible = [step for step in steps if step["do"] in able | COMPOSED]
    return [{**step, "steps": without(step["steps"], able)} if "steps" in step else step for step in possible]


def main(connect: Connect, able: Sequence[str], capabilities: Sequence[str] = ()) -> None:
    """Run the steps. `able` are the actions, and `timeout` if `call_tool` has one."""
    can = frozenset(able)
    needs = [*lacking(CONTEXT["steps"], can), *sorted({*CAPABILITIES} - {*capabilities})]
    if CONTEXT.get("oauth"):
        needs.append("OAuth")
    if "before_answering" in CONTEXT.get("answers", {}):
        needs.append("steps before an answer")
    if needs:
        print(f"this client has no {', '.join(dict.fromkeys(needs))}", file=sys.stderr)
        sys.exit(UNABLE)

    async def play() -> None:
        async with connect() as actions:
            await Follower(actions).follow(without(CONTEXT["steps"], can))

    asyncio.run(play())
