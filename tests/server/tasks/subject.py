"""A server whose tools run as tasks, held at events instead of by time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from assay import Context, Limits, RpcError, Scope, Server, ToolError
from assay.model.task import TaskRecord
from assay.store.task_memory import MemoryTasks
from tests.driving.describing import ASKABLE, describe
from tests.server.scripted import GUARD

NAME = "io.modelcontextprotocol/tasks"
DECLARED: dict[str, Any] = {**ASKABLE, "extensions": {NAME: {}}}


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


class Subject:
    """The server, its store, and the gate that holds `slow`."""

    def __init__(self, *, limits: Limits | None = None, clock: Clock | None = None, **options: Any) -> None:
        limits = limits or Limits()
        self.store = MemoryTasks(limits) if clock is None else MemoryTasks(limits, clock=clock)
        self.server = Server("test", limits=limits, task_store=self.store, **options)
        self.gate = asyncio.Event()
        self.ended: list[str] = []
        self._changed = asyncio.Event()
        self.store.watch(self._notice)
        add = self.server.tools.add
        for function in (self.slow, self.fails, self.breaks, self.confirm, self.both, self.large):
            add(function, task="optional")
        add(self.must, task="required")
        add(self.later, task="on_demand")
        add(self.plain)
        if clock is not None:
            (handlers,) = self.server.extensions
            self.tasks = handlers._tasks  # type: ignore[attr-defined]
            self.tasks._clock = clock

    def _notice(self, record: TaskRecord) -> None:
        self._changed.set()

    async def slow(self, ctx: Context) -> str:
        """Works until the gate is open."""
        try:
            await ctx.progress(1, total=2, message="half")
            await self.gate.wait()
        finally:
            self.ended.append("slow")
        return "done"

    async def must(self) -> str:
        return "as a task"

    async def fails(self) -> str:
        raise ToolError("out of paper")

    async def breaks(self) -> str:
        raise RpcError(-32050, "broken", {"part": 3})

    async def confirm(self, ctx: Context) -> str:
        reply = await ctx.elicit("Sure?", bool, key="sure")
        return f"{reply.action}: {reply.data}"

    async def both(self, ctx: Context) -> str:
        name, sure = await asyncio.gather(ctx.elicit("Name?", str), ctx.elicit("Sure?", bool))
        return f"{name.data} {sure.data}"

    async def later(self, ctx: Context, start: bool = True) -> str:
        name = await ctx.elicit("Name?", str, key="name")
        started = await ctx.start_task() if start else False
        if started:
            await self.gate.wait()
        return f"{name.data}, started: {started}"

    async def large(self, size: int) -> str:
        return "x" * size

    async def plain(self, ctx: Context) -> str:
        return f"started: {await ctx.start_task()}"

    async def settled(self, task_id: str, *statuses: str) -> TaskRecord:
        """Wait until a task has one of these states."""
        async with asyncio.timeout(GUARD):
            while True:
                self._changed.clear()
                record = await self.store.load(task_id)
                assert record is not None, f"task {task_id} is gone"
                if record.status.value in statuses:
                    return record
                await self._changed.wait()

    async def ask(
        self, method: str, capabilities: Mapping[str, Any] = DECLARED, principal: Any = None, **params: Any
    ) -> Any:
        """One request of the revision with the extension; its whole answer."""
        message = describe(method, params, capabilities=capabilities)
        async with asyncio.timeout(GUARD):
            answer = await self.server.handle(message, scope=Scope(principal=principal))
        assert answer is not None
        return json.loads(answer)

    async def begin(self, tool: str, principal: Any = None, **arguments: Any) -> str:
        answer = await self.ask("tools/call", principal=principal, name=tool, arguments=arguments)
        assert answer["result"]["resultType"] == "task", answer
        task_id: str = answer["result"]["taskId"]
        return task_id

    async def get(self, task_id: str, principal: Any = None) -> Any:
        return (await self.ask("tasks/get", principal=principal, taskId=task_id))["result"]

    async def outcome(self, task_id: str) -> Any:
        await self.settled(task_id, "completed", "failed", "cancelled")
        return await self.get(task_id)
