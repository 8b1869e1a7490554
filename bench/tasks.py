"""What tasks cost: a call as a task against the plain call, reading one of many tasks, memory after expiry.

    python -m bench.tasks

Times are CPU times of this process, which is client and server, the best of several rounds. The targets are
ratios, so the load of the machine matters little.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from typing import Any, Final

from assay import Context, Limits, Server
from assay.revisions.registry import PER_REQUEST
from assay.store.task_memory import MemoryTasks

UPDATES: Final = 1000
MANY: Final = 10_000
ROUNDS: Final = 15
PREFIX: Final = "io.modelcontextprotocol/"
TARGETS: Final = {"progress": 1.2, "get": 1.1, "memory": 0.05}
"""The most that each ratio may be; memory is what is left after expiry, as a part of what was kept."""


class Clock:
    now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


class Subject:
    """A server with one tool, and a client of it in the same process."""

    def __init__(self) -> None:
        limits = Limits(tasks=2 * MANY)
        self.clock = Clock()
        self.store = MemoryTasks(limits, clock=self.clock)
        self.server = Server("bench", limits=limits, task_store=self.store)
        self.server.tools.add(reports, task="optional")
        self.server.tools.add(short, task="optional")
        self.sent = 0

    async def _send(self, data: bytes) -> None:
        json.loads(data)  # a client reads what it gets
        self.sent += 1

    async def ask(self, method: str, *, tasks: bool, token: str | None = None, **params: Any) -> Any:
        extensions: dict[str, Any] = {"extensions": {f"{PREFIX}tasks": {}}} if tasks else {}
        version = PER_REQUEST[-1].date
        meta = {f"{PREFIX}protocolVersion": version, f"{PREFIX}clientCapabilities": extensions}
        if token is not None:
            meta["progressToken"] = token
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        answer = await self.server.handle(message, send=self._send)
        assert answer is not None
        return json.loads(answer)["result"]

    async def plain(self, token: str | None) -> None:
        result = await self.ask("tools/call", tasks=False, token=token, name="reports", arguments={})
        assert result["content"][0]["text"] == "reported"

    async def as_task(self) -> None:
        task = await self.ask("tools/call", tasks=True, token="t", name="reports", arguments={})
        state = task
        while state["status"] == "working":
            await asyncio.sleep(0)
            state = await self.ask("tasks/get", tasks=True, taskId=task["taskId"])
        assert state["result"]["content"][0]["text"] == "reported"

    async def finished(self, count: int) -> str:
        for _ in range(count):
            task = await self.ask("tools/call", tasks=True, name="short", arguments={})
            await asyncio.sleep(0)
        task_id: str = task["taskId"]
        return task_id


async def reports(ctx: Context) -> str:
    for number in range(UPDATES):
        await ctx.progress(number + 1, total=UPDATES, message="working")
    return "reported"


async def short() -> str:
    return "x" * 1024


async def cost(work: Callable[[], Awaitable[Any]], repeat: int = 1) -> float:
    """CPU seconds, the best of all rounds."""
    times = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        for _ in range(repeat):
            await work()
        times.append((time.process_time() - begin) / repeat)
    return min(times)


async def get_cost(count: int) -> float:
    subject = Subject()
    task_id = await subject.finished(count)
    return await cost(lambda: subject.ask("tasks/get", tasks=True, taskId=task_id), repeat=500)


async def memory() -> tuple[int, int]:
    """Bytes that many tasks take, and that are left after they have expired."""
    subject = Subject()
    await subject.finished(10)
    gc.collect()
    tracemalloc.start()
    await subject.finished(MANY)
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    subject.clock.now += 10_000_000_000
    await subject.store.evict()
    gc.collect()
    left, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return kept, left


async def measure() -> dict[str, float]:
    subject = Subject()
    silent = await cost(lambda: subject.plain(None))
    plain = await cost(lambda: subject.plain("t"))
    task = await cost(subject.as_task)
    single, one_of_many = await get_cost(1), await get_cost(MANY)
    kept, left = await memory()
    print(f"plain call, {UPDATES} updates sent: {plain * 1e3:.2f} ms; none asked for: {silent * 1e3:.2f} ms")
    print(f"the same as a task: {task * 1e3:.2f} ms, {task / plain:.2f} or {task / silent:.2f} times as much")
    print(f"tasks/get: {single * 1e6:.1f} us with one task, {one_of_many * 1e6:.1f} us with {MANY}")
    print(f"memory of {MANY} tasks: {kept / 1e6:.1f} MB, after expiry {left / 1e6:.2f} MB")
    return {"progress": task / plain, "get": one_of_many / single, "memory": left / kept}


def main() -> int:
    measured = asyncio.run(measure())
    for name, ratio in measured.items():
        verdict = "met" if ratio <= TARGETS[name] else "missed"
        print(f"{name}: {ratio:.3f}, at most {TARGETS[name]}: {verdict}")
    return 0 if all(ratio <= TARGETS[name] for name, ratio in measured.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
