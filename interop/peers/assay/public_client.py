"""Our client, used for everything that a public server offers.

`public_client.py '{"target": …, "revision": …, "calls": […], …}'`: the calls are those of
`interop/servers/public.toml`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from report import NoApi, Step, expect, run_steps

from assay import Client, Stdio, ToolFailed, ToolResult

AT_ONCE = 10


@dataclass(frozen=True)
class Task:
    target: list[str] | str
    revision: str
    data: str
    environment: dict[str, str] = field(default_factory=dict)
    calls: list[dict[str, Any]] = field(default_factory=list)
    reads: dict[str, str] = field(default_factory=dict)
    prompts: list[dict[str, Any]] = field(default_factory=list)
    changes: dict[str, Any] | None = None
    roots: bool = False

    @property
    def server(self) -> Stdio | str:
        return self.target if isinstance(self.target, str) else Stdio(*self.target, env=self.environment)


class Program:
    def __init__(self, task: Task) -> None:
        self.task = task
        self.root_requests = asyncio.Event()
        self.changes: asyncio.Queue[Any] = asyncio.Queue()
        self.main = Client(
            task.server,
            revision=task.revision,
            roots=self.on_roots if task.roots else None,
            on_change=self.changes.put_nowait,
            timeout=30,
        )

    def on_roots(self) -> list[str]:
        self.root_requests.set()
        return [Path(self.task.data).as_uri()]

    async def call(self, call: dict[str, Any]) -> ToolResult:
        return await self.main.call_tool(call["tool"], call.get("arguments", {}))

    async def connect(self) -> str:
        async with Client(self.task.server) as client:
            agreed = client.revision
        await self.main.open()
        expect(self.main.revision, self.task.revision, "revision")
        return f"uses {self.main.revision}; agrees on {agreed} by itself"

    async def roots(self) -> str:
        if not self.task.roots:
            raise NoApi("this server does not ask for roots")
        await self.root_requests.wait()
        return "asked for the roots"

    async def every_tool(self) -> str:
        listed = [tool.name for tool in await self.main.tools()]
        expect({call["tool"] for call in self.task.calls}, {*listed}, "tools of public.toml")
        for call in self.task.calls:
            await self.check(call)
        return f"{len(listed)} tools"

    async def check(self, call: dict[str, Any]) -> None:
        try:
            result = await self.call(call)
        except ToolFailed:
            if not call.get("fails"):
                raise
            return
        text = f"{result.text} {result.structured} {result.content}"
        assert not call.get("fails") and call.get("shows", "") in text, (call, text)

    async def resources(self) -> str:
        if "resources" not in self.main.capabilities:
            raise NoApi("this server has no resources")
        listed = [resource.uri for resource in await self.main.resources()]
        expect({*listed}, {*self.task.reads}, "resources")
        for uri, shows in self.task.reads.items():
            (contents,) = await self.main.read(uri)
            assert shows in (contents.text or ""), contents
        return f"{len(listed)} resources"

    async def prompts(self) -> str:
        if "prompts" not in self.main.capabilities:
            raise NoApi("this server has no prompts")
        listed = [prompt.name for prompt in await self.main.prompts()]
        expect({*listed}, {prompt["name"] for prompt in self.task.prompts}, "prompts")
        for prompt in self.task.prompts:
            result = await self.main.prompt(prompt["name"], **prompt["arguments"])
            assert prompt["shows"] in str(result.messages), result
        return f"{len(listed)} prompts"

    async def updates(self) -> str:
        if self.task.changes is None:
            raise NoApi("no resource of this server changes")
        uri = self.task.changes["uri"]
        if self.main.capabilities["resources"].get("subscribe"):
            async with self.main.subscribe(uri) as changes:
                await self.call(self.task.changes)
                expect((await anext(changes)).uri, uri, "changed resource")
            return "subscribed"
        await self.call(self.task.changes)
        expect((await self.changes.get()).uri, uri, "changed resource")
        return "announced without a subscription"

    async def at_once(self) -> str:
        tools = await asyncio.gather(*(self.main.tools() for _ in range(AT_ONCE)))
        expect(len({len(listed) for listed in tools}), 1, "numbers of tools")
        return f"{AT_ONCE} lists"

    async def nothing_left(self) -> str:
        await self.main.close()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        expect({str(task) for task in left}, set(), "tasks after closing")
        return "no task is left"

    def steps(self) -> dict[str, Step]:
        return {
            "connect": self.connect,
            "roots": self.roots,
            "every tool": self.every_tool,
            "every resource": self.resources,
            "every prompt": self.prompts,
            "updates": self.updates,
            "at once": self.at_once,
            "nothing left": self.nothing_left,
        }


async def main() -> None:
    await run_steps(Program(Task(**json.loads(sys.argv[1]))).steps())


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    asyncio.run(main())
